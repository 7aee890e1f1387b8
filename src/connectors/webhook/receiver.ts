import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifySignature } from './signature.ts'

export type ReceivedRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly rawBody: Buffer
}

/** What a request was answered with, or what was done to it instead. */
export type ReceiverAnswer =
  | number
  | 'hang'
  | 'reset'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }

export type ReceivedEvent = ReceivedRequest & {
  /** The parsed body; null when it is no JSON object. */
  readonly event: Readonly<Record<string, unknown>> | null
  /** Null without a secret to verify with. */
  readonly verified: boolean | null
  readonly problem: 'missing_signature' | 'invalid_signature' | 'malformed_event' | null
  readonly answer: ReceiverAnswer
}

export type ReceiverOptions = {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly secret?: string
  readonly onEvent: (received: ReceivedEvent) => void
  /** Scripted answers; `n` counts requests from 1. Without it: 204, 401 for a bad signature, 400 for no event. */
  readonly respond?: (n: number, request: ReceivedRequest) => ReceiverAnswer
  /** Wall clock in milliseconds. */
  readonly now?: () => number
}

export type Receiver = {
  readonly url: string
  readonly port: number
  /** Drops open connections, hanging ones too. */
  close(): Promise<void>
}

const MAX_BODY_BYTES = 1024 * 1024

const parseEvent = (rawBody: Buffer): Readonly<Record<string, unknown>> | null => {
  try {
    const value: unknown = JSON.parse(rawBody.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

/** The whole body, or null when it is too large or its connection broke. */
const readBody = async (request: IncomingMessage): Promise<Buffer | null> => {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of request) {
      size += chunk.length
      if (size > MAX_BODY_BYTES) return null
      chunks.push(chunk)
    }
  } catch {
    return null
  }
  return Buffer.concat(chunks)
}

const send = (response: ServerResponse, answer: ReceiverAnswer): void => {
  if (answer === 'hang') return
  if (answer === 'reset') {
    response.socket?.resetAndDestroy()
    return
  }
  const { status, headers = {}, body } = typeof answer === 'number' ? { status: answer, body: undefined } : answer
  response.writeHead(status, headers).end(body)
}

const inspect = (
  request: ReceivedRequest,
  secret: string | undefined,
  nowMs: number
): Pick<ReceivedEvent, 'event' | 'verified' | 'problem'> => {
  const event = parseEvent(request.rawBody)
  const malformed = event === null ? 'malformed_event' : null
  if (secret === undefined) return { event, verified: null, problem: malformed }
  const header = request.headers['x-service-signature']
  const verdict = verifySignature(
    typeof header === 'string' ? header : undefined,
    request.rawBody,
    secret,
    nowMs / 1000
  )
  return verdict.ok
    ? { event, verified: true, problem: malformed }
    : { event, verified: false, problem: verdict.reason }
}

const answerTo = (problem: ReceivedEvent['problem']): number => {
  if (problem === null) return 204
  return problem === 'malformed_event' ? 400 : 401
}

/**
 * A small webhook receiver: verifies the signature over the raw bytes, answers, and hands each request to `onEvent`
 * (rejected ones too, with their problem). Rejects when the port cannot be taken.
 */
export const startReceiver = async (options: ReceiverOptions): Promise<Receiver> => {
  const { host, port, secret, onEvent, respond, now = Date.now } = options
  let count = 0
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const rawBody = await readBody(request)
    if (rawBody === null) {
      response.writeHead(413, { connection: 'close' }).end()
      return
    }
    count += 1
    const received = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, rawBody }
    const inspected = inspect(received, secret, now())
    const answer = respond?.(count, received) ?? answerTo(inspected.problem)
    send(response, answer)
    onEvent({ ...received, ...inspected, answer })
  }
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
  const bound = (server.address() as AddressInfo).port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    port: bound,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
