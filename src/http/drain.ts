import type { FastifyInstance } from 'fastify'

/**
 * Makes `close()` wait for the requests that are in flight and for nothing else. Left to itself the server would also wait
 * for connections that are kept alive after their last answer, and for those that never sent a byte. How long requests may
 * take is the caller's limit: it ends the wait with `server.closeAllConnections()`.
 */
export function drainOnClose(app: FastifyInstance): void {
  let inFlight = 0
  let isClosing = false
  const finish = (): void => {
    if (isClosing && inFlight === 0) app.server.closeAllConnections()
  }
  app.addHook('onRequest', (_request, reply, done) => {
    inFlight++
    reply.raw.once('close', () => {
      inFlight--
      // The last bytes have left for the kernel by then; the next turn may end the socket.
      if (isClosing) setImmediate(finish)
    })
    if (isClosing) reply.header('connection', 'close')
    done()
  })
  app.addHook('preClose', done => {
    isClosing = true
    done()
    setImmediate(finish)
  })
}
