/** Receivers may ask for a longer wait; an hour is the most that is honoured (decisions §5). */
export const MAX_RETRY_AFTER_MS = 3_600_000

/** Reads `Retry-After`, seconds or an HTTP date, as milliseconds from now, 0 to one hour; null if it is neither. */
export const retryAfterMs = (value: string | undefined, nowMs: number): number | null => {
  if (value === undefined) return null
  const text = value.trim()
  if (/^\d{1,15}$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS)
  // Date.parse takes almost anything, a bare number included: an HTTP date begins with the name of a day.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.min(Math.max(at - nowMs, 0), MAX_RETRY_AFTER_MS)
}
