import { LRUCache } from 'lru-cache'
import type { OfficialConnector, OfficialLine, Outbound, SendAnswer } from '../port.ts'
import { createHttpClient } from './exchange.ts'
import { requestBodyOf } from './request-body.ts'
import { sendAnswerOf } from './send-answer.ts'
import { templates } from './templates.ts'
import { subscribe, verify } from './verify.ts'

/** One request at a time on each: at 150 ms an answer this is about 1,700 sends a second. */
const CONNECTIONS_DEFAULT = 256
/** Recipients whose pair-rate refusals in a row are remembered. */
const PAIRS_MAX = 10_000

/**
 * The connector to the official platform. One pool serves all numbers, whose tokens travel with each call.
 * `timeoutMs` limits each call; a send is also ended by its own signal. No method rejects.
 * Throws a TypeError when `baseUrl` is not an http(s) URL.
 */
export function createOfficialConnector(options: {
  baseUrl: string
  timeoutMs: number
  connections?: number
}): OfficialConnector {
  const { baseUrl, timeoutMs, connections = CONNECTIONS_DEFAULT } = options
  const http = createHttpClient({ baseUrl, timeoutMs, connections })
  const pairRefusals = new LRUCache<string, number>({ max: PAIRS_MAX })

  async function send(line: OfficialLine, message: Outbound, signal: AbortSignal): Promise<SendAnswer> {
    const body = requestBodyOf(message)
    if (body === null) return { kind: 'refused', code: 'invalid_recipient', providerCode: null, detail: null }
    const exchange = await http.call({
      method: 'POST',
      path: `/${encodeURIComponent(line.phoneNumberId)}/messages`,
      headers: ['authorization', `Bearer ${line.accessToken}`, 'content-type', 'application/json'],
      body,
      signal
    })
    const answer = sendAnswerOf(exchange, {
      isReaction: message.content.kind === 'reaction',
      accessToken: line.accessToken,
      earlierPairRefusals: () => countPairRefusal(pairOf(line, message))
    })
    // A message that passed ends the recipient's row of refusals; mostly there is none, and nothing to look up.
    if (pairRefusals.size > 0 && answer.kind === 'sent') pairRefusals.delete(pairOf(line, message))
    return answer
  }

  function countPairRefusal(pair: string): number {
    const earlier = pairRefusals.get(pair) ?? 0
    pairRefusals.set(pair, earlier + 1)
    return earlier
  }

  return {
    send,
    verify: line => verify(http, line, timeoutMs),
    subscribe: line => subscribe(http, line, timeoutMs),
    templates: line => templates(http, line, timeoutMs),
    close: () => http.close()
  }
}

function pairOf(line: OfficialLine, message: Outbound): string {
  return `${line.phoneNumberId}|${message.to}`
}
