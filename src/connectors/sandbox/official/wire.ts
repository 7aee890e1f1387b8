import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Json } from './json.ts'

/** What a route answers: a status and a body that is already text or bytes. */
export type Answer = { status: number; body: string | Buffer; type?: string; headers?: Record<string, string> }

export const json = (body: Json, status = 200): Answer => ({ status, body: JSON.stringify(body) })
export const success: Answer = { status: 200, body: '{"success":true}' }

const JSON_TYPE = 'application/json; charset=UTF-8'

/** Reads the whole body. Answers null when it is longer than `limitBytes` or the sender went away. */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | null> {
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limitBytes) resolve(null)
      else chunks.push(chunk)
    })
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
    request.on('error', () => resolve(null))
    request.on('close', () => resolve(null))
  })
}

export function reply(response: ServerResponse, answer: Answer): void {
  if (response.destroyed || response.headersSent) return
  const length = typeof answer.body === 'string' ? Buffer.byteLength(answer.body) : answer.body.length
  response.writeHead(answer.status, {
    'content-type': answer.type ?? JSON_TYPE,
    'content-length': length,
    'facebook-api-version': 'v23.0',
    ...answer.headers
  })
  response.end(answer.body)
}
