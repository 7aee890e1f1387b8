import { createHmac } from 'node:crypto'
import { Agent, request } from 'undici'
import type { State } from './state.ts'

const CONNECTIONS = 32
const MAX_RETRYING = 20_000

export type PostOptions = { retry?: boolean; sign?: boolean | 'wrong' }

const newAgent = (timeoutMs: number) =>
  new Agent({ connections: CONNECTIONS, headersTimeout: timeoutMs, bodyTimeout: timeoutMs, connectTimeout: timeoutMs })

function signatures(appSecret: string, body: Buffer, sign: boolean | 'wrong'): Record<string, string> {
  if (sign === false) return {}
  const secret = sign === 'wrong' ? `${appSecret}-other` : appSecret
  return {
    'x-hub-signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`,
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  }
}

/** Posts signed bodies and repeats what was not acknowledged, with waits that double, a bounded number of times. */
export function createPosting(state: State) {
  let agent = newAgent(state.settings.webhookTimeoutMs)
  let posting = 0
  let closed = false
  const retries = new Set<NodeJS.Timeout>()
  const counts = { posted: 0, acknowledged: 0, failed: 0, dropped: 0, statuses: 0 }

  const attempt = async (url: string, body: Buffer, sign: boolean | 'wrong'): Promise<number | null> => {
    posting++
    counts.posted++
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'facebookexternalua',
      ...signatures(state.appSecret, body, sign)
    }
    try {
      const response = await request(url, { method: 'POST', dispatcher: agent, body, headers })
      await response.body.dump()
      if (response.statusCode === 200) counts.acknowledged++
      else counts.failed++
      return response.statusCode
    } catch {
      counts.failed++
      return null
    } finally {
      posting--
    }
  }

  const retryLater = (url: string, body: Buffer, tried: number) => {
    const { firstMs, attempts } = state.settings.webhookRetry
    if (closed || tried >= attempts || retries.size >= MAX_RETRYING) {
      counts.dropped++
      return
    }
    const timer = setTimeout(
      async () => {
        const status = await attempt(url, body, true)
        // A retry that was cleared while in flight belongs to a world that is gone.
        if (retries.delete(timer) && status !== 200) retryLater(url, body, tried + 1)
      },
      firstMs * 2 ** (tried - 1)
    )
    retries.add(timer)
  }

  return {
    counts,
    /** Posts one body and answers the receiver's status, null when it could not be reached. Retries go on behind. */
    async post(url: string, text: string, options: PostOptions = {}): Promise<number | null> {
      const body = Buffer.from(text)
      const status = await attempt(url, body, options.sign ?? true)
      if (status !== 200 && options.retry !== false) retryLater(url, body, 1)
      return status
    },
    /** The check that a callback URL belongs to the caller: it must echo a challenge when the verify token fits. */
    async handshake(url: string, verifyToken: string): Promise<boolean> {
      try {
        const challenge = String(1_000_000_000 + Math.floor(Math.random() * 1_000_000_000))
        const target = new URL(url)
        target.searchParams.set('hub.mode', 'subscribe')
        target.searchParams.set('hub.challenge', challenge)
        target.searchParams.set('hub.verify_token', verifyToken)
        const response = await request(target, { dispatcher: agent })
        const text = await response.body.text()
        return response.statusCode === 200 && text === challenge
      } catch {
        return false
      }
    },
    pending: () => posting + retries.size,
    renewTimeout() {
      void agent.close()
      agent = newAgent(state.settings.webhookTimeoutMs)
    },
    clear() {
      for (const timer of retries) clearTimeout(timer)
      retries.clear()
      Object.assign(counts, { posted: 0, acknowledged: 0, failed: 0, dropped: 0, statuses: 0 })
    },
    async close() {
      closed = true
      this.clear()
      await agent.destroy()
    }
  }
}
