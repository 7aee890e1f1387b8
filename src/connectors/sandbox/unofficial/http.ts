import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Fields, isFields } from './fields.ts'
import type { Answer } from './routing.ts'

/** Bodies of up to 50 MB are read by default. */
const BODY_BYTES_MAX = 50 * 1024 * 1024

export type ReadBody = { ok: true; fields: Fields } | { ok: false; status: 400 | 413; message: string }

/** Reads a JSON body; none at all counts as an empty object. Rejects when the caller hangs up meanwhile. */
export function readBody(request: IncomingMessage): Promise<ReadBody> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (encoding === undefined && (length === undefined || length === '0'))
    return Promise.resolve({ ok: true, fields: {} })
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= BODY_BYTES_MAX) chunks.push(chunk)
      else resolve({ ok: false, status: 413, message: 'request entity too large' })
    })
    request.on('end', () => resolve(parsed(Buffer.concat(chunks).toString())))
    request.on('error', reject)
  })
}

function parsed(text: string): ReadBody {
  if (text === '') return { ok: true, fields: {} }
  try {
    const value: unknown = JSON.parse(text)
    return { ok: true, fields: isFields(value) ? value : {} }
  } catch {
    return { ok: false, status: 400, message: 'Unexpected token in JSON' }
  }
}

/** Carries out an answer, then what was to happen after it. */
export function writeAnswer(response: ServerResponse, answer: Answer): void {
  if (answer.kind === 'reset') response.socket?.resetAndDestroy()
  else if (answer.kind === 'json') write(response, answer.status, 'application/json', JSON.stringify(answer.body))
  else if (answer.kind === 'bytes') write(response, answer.status, answer.type, answer.body)
  else if (answer.kind === 'empty') response.writeHead(answer.status, { 'content-length': 0 }).end()
  answer.after?.()
}

function write(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  response.writeHead(status, { 'content-type': type, 'content-length': length }).end(body)
}
