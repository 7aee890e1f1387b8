/** From a connector's answer to what the message records: backoff, attempts left, blind index of the provider's id. */
import type { SendAnswer } from '../connectors/port.ts'
import type { DispatchAnswer } from '../domain/message.ts'
import type { ProviderSecrets } from '../domain/message-events.ts'
import { backoffMs } from './backoff.ts'
import { iso } from './clock.ts'

export type DispatchPolicy = {
  readonly maxAttempts: number
  readonly backoffMs: readonly number[]
  readonly indeterminateTimeoutMs: number
}

/** Share by which a retry's wait is spread, so that what failed together does not come back together. */
const JITTER = 0.1
/** A wait after which a number that is in trouble may be tried again, once it is in order. */
const TROUBLE_WAIT_MS = 1_000

export function toDispatchAnswer(
  answer: SendAnswer,
  attempt: number,
  nowMs: number,
  policy: DispatchPolicy,
  tools: { index: (providerId: string) => string; random: () => number }
): DispatchAnswer {
  const secrets = 'detail' in answer && answer.detail !== null ? { detail: answer.detail } : null
  switch (answer.kind) {
    case 'sent': {
      const address = answer.address === null ? {} : { address: answer.address }
      const known: ProviderSecrets = { providerId: answer.providerId, ...address }
      return { kind: 'sent', providerIdIndex: tools.index(answer.providerId), secrets: known }
    }
    case 'refused':
      return { kind: 'refused', code: answer.code, providerCode: answer.providerCode, secrets }
    case 'retry': {
      const wait = Math.max(answer.afterMs ?? 0, backoffMs(policy.backoffMs, attempt, JITTER, tools.random))
      const { code, providerCode } = answer
      const scope = answer.scope === 'recipient' ? 'recipient' : 'message'
      const { maxAttempts } = policy
      return { kind: 'retry', code, providerCode, retryAt: iso(nowMs + wait), maxAttempts, scope, secrets }
    }
    case 'channel_trouble':
      return { kind: 'channel_trouble', code: answer.code, retryAt: iso(nowMs + TROUBLE_WAIT_MS), secrets }
    case 'unknown':
      return { kind: 'unknown', code: answer.code, timeoutAt: iso(nowMs + policy.indeterminateTimeoutMs), secrets }
  }
}
