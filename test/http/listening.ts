/** The service on a real port, in front of stub doors. */

import type { Test } from 'tap'
import { request } from 'undici'
import { createRequestWindows } from '../../src/coordination/request-windows.ts'
import { monotonicTime } from '../../src/coordination/time.ts'
import { type AppOptions, createApp } from '../../src/http/app.ts'
import { id, KEYS, type Stub, stubDoors } from './stub-doors.ts'

export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}
type Failure = {
  readonly code: string
  readonly message: string
  readonly traceId: string
  readonly details?: readonly { readonly path: string; readonly message: string }[]
}
export type Ask = {
  readonly method?: string
  readonly path: string
  /** null: none. */
  readonly key?: string | null
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}
export type Listening = { readonly stub: Stub; readonly base: string; readonly ask: (ask: Ask) => Promise<Answer> }

export async function listen(t: Test, options: Partial<AppOptions> = {}): Promise<Listening> {
  const stub = stubDoors()
  let traces = 0
  const app = createApp({
    doors: stub.doors,
    logger: false,
    now: () => Date.parse('2025-03-01T12:00:00.000Z'),
    newTraceId: () => id('tr').slice(0, -6) + String(++traces).padStart(6, '0'),
    publicUrl: 'http://service.example',
    version: '0.0.0',
    requestLimitPerMinute: 0,
    countRequest: createRequestWindows(monotonicTime),
    ...options
  })
  const base = await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  return { stub, base, ask: asking => send(base, asking) }
}

async function send(base: string, { method = 'GET', path, key = KEYS.full, body, headers = {} }: Ask): Promise<Answer> {
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body) || body === undefined
  const answer = await request(base + path, {
    method: method as 'GET',
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers
    },
    body: isRaw ? ((body as string | Buffer | undefined) ?? null) : JSON.stringify(body)
  })
  const text = await answer.body.text()
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  return { status: answer.statusCode, headers: answer.headers, text, json: isJson ? JSON.parse(text) : {} }
}

/** The refusal is exactly this one, in the body that every refusal has. */
export function assertRefusal(t: Test, answer: Answer, status: number, code: string, paths?: readonly string[]): void {
  t.equal(answer.status, status, `status ${status}, body ${answer.text.slice(0, 200)}`)
  const { error, ...others } = answer.json as { readonly error?: Failure }
  t.strictSame(others, {}, 'nothing beside the error')
  t.equal(error?.code, code)
  t.ok(error?.message, 'a message for people')
  t.match(String(error?.traceId), /^tr_[0-9a-z]{26}$/)
  t.equal(answer.headers['x-trace-id'], error?.traceId, 'the trace id is in the header too')
  const known = ['code', 'message', 'traceId', 'details']
  t.strictSame(
    Object.keys(error ?? {}).filter(name => !known.includes(name)),
    [],
    'nothing else in the error'
  )
  if (paths === undefined) return
  t.strictSame(error?.details?.map(detail => detail.path).sort(), [...paths].sort())
}
