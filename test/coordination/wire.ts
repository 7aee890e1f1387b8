/** The wire between one node and Redis, which can be cut: the node lives on and cannot be heard, like one that is dead. */
import { createServer, connect as openSocket, type Socket } from 'node:net'

export type Wire = { readonly url: string; cut(): void; mend(): void }

export async function layWire(port: number, t: { teardown(run: () => unknown): unknown }): Promise<Wire> {
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer(near => {
    if (isCut) {
      near.destroy()
      return
    }
    const far = openSocket(port, '127.0.0.1')
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => {
        open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far).pipe(near)
  })
  const cut = (): void => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    cut()
    server.close()
  })
  const address = server.address()
  const own = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `redis://127.0.0.1:${own}`,
    cut,
    mend: () => {
      isCut = false
    }
  }
}
