import { isObject, type Json, type JsonObject } from './json.ts'

export type DelaysMs = { sent: number; delivered: number; read: number }
export type Settings = {
  autoStatuses: boolean
  /** Milliseconds from acceptance to each status. */
  delaysMs: DelaysMs
  recordSends: boolean
  countByCallbackData: boolean
  /** At most `burst` messages at once to one user, then one every `everyMs`; false switches 131056 off. */
  pairLimit: false | { burst: number; everyMs: number }
  /** Messages per second and number; null switches 130429 off. */
  throughputLimit: number | null
  /** Most statuses in one webhook POST under load. */
  webhookBatch: number
  webhookRetry: { firstMs: number; attempts: number }
  webhookTimeoutMs: number
  acceptUnknownQuote: boolean
  enforceWindow: boolean
  requireSubscription: boolean
  /** Digits of users to whom every message fails with 131026. */
  unreachable: string[]
  templateReview: { outcome: 'APPROVED' | 'REJECTED' | 'NONE'; delayMs: number }
  mediaUrlTtlMs: number
}

const REAL_PAIR_LIMIT = { burst: 45, everyMs: 6000 }
const REAL_THROUGHPUT = 80

export const createSettings = (delaysMs: DelaysMs | undefined, autoStatuses: boolean): Settings => ({
  autoStatuses,
  delaysMs: { ...(delaysMs ?? { sent: 150, delivered: 400, read: 900 }) },
  recordSends: true,
  countByCallbackData: true,
  pairLimit: false,
  throughputLimit: null,
  webhookBatch: 200,
  webhookRetry: { firstMs: 200, attempts: 8 },
  webhookTimeoutMs: 10_000,
  acceptUnknownQuote: true,
  enforceWindow: false,
  requireSubscription: false,
  unreachable: [],
  templateReview: { outcome: 'APPROVED', delayMs: 300 },
  mediaUrlTtlMs: 300_000
})

const kindOf = (value: Json | undefined) => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value)

/** Two switches are off, on with the real figures, or on with figures of the test. */
function limitOf(key: string, value: Json | undefined): Json | undefined {
  if (key === 'pairLimit') {
    if (value === true) return REAL_PAIR_LIMIT
    if (value === null || value === false) return false
    return isObject(value) ? { ...REAL_PAIR_LIMIT, ...value } : undefined
  }
  if (value === true) return REAL_THROUGHPUT
  if (value === null || value === false) return null
  return typeof value === 'number' ? value : undefined
}

/** Merges a partial object into the settings. Answers the name of a key that does not exist or has the wrong type. */
export function changeSettings(settings: Settings, change: JsonObject): string | null {
  const merged: JsonObject = {}
  for (const [key, value] of Object.entries(change)) {
    const current = (settings as unknown as JsonObject)[key]
    if (key === 'pairLimit' || key === 'throughputLimit') {
      const limit = limitOf(key, value)
      if (limit === undefined) return key
      merged[key] = limit
    } else {
      if (kindOf(current) !== kindOf(value)) return key
      merged[key] = isObject(current) && isObject(value) ? { ...current, ...value } : value
    }
  }
  Object.assign(settings, merged)
  return null
}
