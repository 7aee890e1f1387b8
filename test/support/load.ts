/** Sends without pause over many connections, until it is stopped or the service is gone. */
import { Pool } from 'undici'

export type Load = {
  /** Message ids by idempotency key: the sends that were answered 202. */
  readonly acknowledged: ReadonlyMap<string, string>
  /** Keys of the sends that were under way when the service went. */
  readonly unanswered: ReadonlySet<string>
  /** Statuses other than 202. */
  readonly refused: readonly number[]
  /** What ended it before it was stopped: the service went. */
  ended(): Error | null
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>
}
export type LoadOptions = {
  readonly url: string
  readonly apiKey: string
  readonly channelId: string
  readonly connections: number
  /** Begins every key. */
  readonly prefix: string
  /** People that are written to, one after the other. */
  readonly recipients: number
}

export function startLoad({ url, apiKey, channelId, connections, prefix, recipients }: LoadOptions): Load {
  const pool = new Pool(url, { connections })
  const acknowledged = new Map<string, string>()
  const unanswered = new Set<string>()
  const refused: number[] = []
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  let sent = 0
  let stopped = false
  let ended: Error | null = null

  async function send(): Promise<void> {
    const number = sent++
    const key = `${prefix}-${number}`
    const to = `55219${String(number % recipients).padStart(8, '0')}`
    const body = JSON.stringify({ to, content: { kind: 'text', text: `number ${number}` }, idempotencyKey: key })
    unanswered.add(key)
    const path = `/v1/channels/${channelId}/messages`
    const answer = await pool.request({ method: 'POST', path, headers, body })
    const { messageId } = (await answer.body.json()) as { messageId?: string }
    unanswered.delete(key)
    if (answer.statusCode === 202 && messageId !== undefined) acknowledged.set(key, messageId)
    else refused.push(answer.statusCode)
  }

  async function work(): Promise<void> {
    while (!stopped)
      // The service was killed: nothing more can be sent, and what was under way has no answer.
      await send().catch(error => {
        ended ??= error
        stopped = true
      })
  }

  const working = Promise.all(Array.from({ length: connections }, work))
  return {
    acknowledged,
    unanswered,
    refused,
    ended: () => ended,
    async stop() {
      stopped = true
      await working
      await pool.destroy()
    }
  }
}
