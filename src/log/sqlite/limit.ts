/**
 * The end of a select that takes its limit as a parameter. A lone parameter there would make SQLite plan the statement
 * anew each time it is bound, because the planner (with STAT4) looks at its value: that takes longer than most selects.
 */
export const LIMIT = 'LIMIT ? + 0'
/** The same with a named parameter. */
export const LIMIT_BY_NAME = 'LIMIT @limit + 0'
