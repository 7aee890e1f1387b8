import { refuse } from './errors.ts'
import { type PhoneNumber, remember, type State } from './state.ts'
import type { Answer } from './wire.ts'

const MAX_PAIRS = 100_000

type Bucket = { tokens: number; at: number }

/** Refills by elapsed time and takes one token; false when there is none. */
function take(bucket: Bucket, capacity: number, perMs: number, nowMs: number): boolean {
  bucket.tokens = Math.min(capacity, bucket.tokens + (nowMs - bucket.at) * perMs)
  bucket.at = nowMs
  if (bucket.tokens < 1) return false
  bucket.tokens--
  return true
}

/** The throughput limit of the number, then the limit of the pair, where they are switched on. */
export function overLimit(state: State, number: PhoneNumber, waId: string, nowMs: number): Answer | null {
  const { throughputLimit, pairLimit } = state.settings
  if (throughputLimit !== null && !take(number.bucket, throughputLimit, throughputLimit / 1000, nowMs)) {
    return refuse(130429, 'Message failed to send because the throughput limit of the number was reached.')
  }
  if (pairLimit === false) return null
  const key = `${number.id} ${waId}`
  const bucket = state.pairs.get(key) ?? { tokens: pairLimit.burst, at: nowMs }
  remember(state.pairs, key, bucket, MAX_PAIRS)
  return take(bucket, pairLimit.burst, 1 / pairLimit.everyMs, nowMs)
    ? null
    : refuse(131056, 'Too many messages sent from this phone number to the same recipient in a short time.')
}
