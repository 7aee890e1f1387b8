/** A small HTTP client: JSON out, JSON in, the status beside it. */
import { createServer } from 'node:net'
import { request } from 'undici'

export type Answer<B> = {
  readonly status: number
  readonly body: B & { readonly error?: { readonly code: string; readonly message: string } }
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Rejects only when there is no answer. A body that is no JSON is `{ text }`. */
export async function call<B>(
  method: string,
  url: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {}
): Promise<Answer<B>> {
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  const answer = await request(url, {
    method: method as 'GET',
    headers: { ...json, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await answer.body.text()
  return { status: answer.statusCode, body: parse(text), headers: answer.headers }
}

function parse<B>(text: string): B {
  if (text === '') return {} as B
  try {
    return JSON.parse(text) as B
  } catch {
    return { text } as B
  }
}

/** A port that was free a moment ago: for addresses that must stay the same over a restart. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  if (typeof address !== 'object' || address === null) throw new Error('no port could be had')
  return address.port
}
