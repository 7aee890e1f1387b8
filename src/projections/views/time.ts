/** Moments as rows keep them: milliseconds since 1970, a third of the bytes of their text. All of ours are UTC with milliseconds. */

export const toMs = (iso: string): number => Date.parse(iso)
export const toIso = (ms: number): string => new Date(ms).toISOString()
export const optionalIso = (ms: number | null): string | null => (ms === null ? null : toIso(ms))
