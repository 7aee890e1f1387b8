/** Short lists of ids or stream names in one column: neither holds a space. */
export const listed = (text: string | null): readonly string[] => (text ? text.split(' ') : [])
export const joined = (names: readonly string[]): string => names.join(' ')
