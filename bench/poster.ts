/** The floor of a dispatch: bare POSTs of the same bodies to the same platform over as many connections. */
import { Pool } from 'undici'
import { requestBodyOf } from '../src/connectors/official/request-body.ts'
import { post } from './post.ts'
import { obey } from './program.ts'
import { ACCESS_TOKEN, numberId, TEXT } from './simulator-world.ts'

export type PosterOrder = {
  readonly url: string
  readonly numbers: number
  readonly sends: number
  readonly connections: number
}

const HEADERS = ['authorization', `Bearer ${ACCESS_TOKEN}`, 'content-type', 'application/json']

obey<PosterOrder>(async ({ url, numbers, sends, connections }) => {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections, pipelining: 1 })
  let next = 0
  async function drive(): Promise<void> {
    while (next < sends) {
      const turn = next++
      const body = requestBodyOf({
        messageId: `msg_${String(turn).padStart(26, '0')}`,
        to: `55119${String(turn).padStart(9, '0')}`,
        content: { kind: 'text', text: TEXT },
        quotedProviderId: null,
        targetProviderId: null
      })
      const { status } = await post(pool, `${pathname}/${numberId(turn % numbers)}/messages`, HEADERS, body ?? '')
      if (status !== 200) throw new Error(`a send was answered ${status}`)
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: connections }, drive))
  const seconds = (performance.now() - began) / 1000
  await pool.close()
  return sends / seconds
})
