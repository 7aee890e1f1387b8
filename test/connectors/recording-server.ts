import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Recorded = {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What the server does with a request: answers it, cuts the connection, or never answers. */
export type Reaction =
  | { readonly status: number; readonly body: unknown; readonly headers?: { readonly [name: string]: string } }
  | 'cut before body'
  | 'cut after body'
  | 'cut within answer'
  | 'hang'

export type RecordingServer = {
  readonly baseUrl: string
  /** Requests whose body came in whole, in order. */
  readonly requests: Recorded[]
  close(): Promise<void>
}

/** A server that keeps what it is sent and reacts as `react` says. A string body goes out as it is, others as JSON. */
export async function startRecordingServer(react: (request: Recorded) => Reaction): Promise<RecordingServer> {
  const requests: Recorded[] = []
  const server: Server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const early = react({ method, url, headers, body: '' })
    if (early === 'cut before body') {
      incoming.socket.destroy()
      return
    }
    const chunks: Buffer[] = []
    incoming.on('data', chunk => chunks.push(chunk))
    incoming.on('end', () => {
      const recorded = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') }
      requests.push(recorded)
      const reaction = react(recorded)
      if (reaction === 'hang' || reaction === 'cut before body') return
      if (reaction === 'cut after body') return void incoming.socket.destroy()
      if (reaction === 'cut within answer') {
        outgoing.writeHead(200, { 'content-length': '1000' })
        outgoing.write('{"messages":', () => incoming.socket.destroy())
        return
      }
      outgoing.writeHead(reaction.status, { 'content-type': 'application/json', ...reaction.headers })
      outgoing.end(typeof reaction.body === 'string' ? reaction.body : JSON.stringify(reaction.body))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

/** The address of a port that nothing listens on. */
export async function closedAddress(): Promise<string> {
  const server = await startRecordingServer(() => 'hang')
  await server.close()
  return server.baseUrl
}
