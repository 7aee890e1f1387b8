/** A small load balancer: each connection goes to the next node that takes it. */
import { connect, createServer, type Socket } from 'node:net'

type Scope = { teardown(run: () => unknown): unknown }

/** Listens at once; `ports` may be filled later. */
export async function startBalancer(t: Scope, ports: readonly number[]): Promise<{ readonly url: string }> {
  const open = new Set<Socket>()
  let turn = 0

  function pass(client: Socket, tries: number): void {
    const port = ports[turn++ % ports.length]
    if (port === undefined || tries === 0) return void client.destroy()
    const node = connect(port, '127.0.0.1')
    node.once('error', () => pass(client, tries - 1))
    node.once('connect', () => {
      node.removeAllListeners('error').on('error', () => client.destroy())
      client.on('error', () => node.destroy())
      client.on('close', () => node.destroy())
      node.on('close', () => client.destroy())
      client.pipe(node).pipe(client)
    })
  }

  const server = createServer({ pauseOnConnect: true }, client => {
    open.add(client)
    client.once('close', () => open.delete(client))
    client.on('error', () => undefined)
    pass(client, ports.length)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    for (const client of open) client.destroy()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the balancer does not listen')
  return { url: `http://127.0.0.1:${address.port}` }
}
