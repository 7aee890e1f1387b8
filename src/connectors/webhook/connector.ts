import { isIP } from 'node:net'
import { buildConnector } from 'undici'
import { BLOCKED_CODE, type Guard } from './guard.ts'

export type ConnectorOptions = {
  readonly guard: Guard
  /** From the name lookup to the end of the TLS handshake. */
  readonly timeoutMs: number
  /** Local address that connections leave from; its family decides which addresses of a name are used. */
  readonly sourceAddress?: string
}

/**
 * A connector for an undici dispatcher (`new Agent({ connect: guardedConnector(…) })`) that only opens sockets to
 * addresses that the guard has checked: names through the guard's own lookup, literal addresses, which are never looked
 * up, right here.
 */
export const guardedConnector = ({ guard, timeoutMs, sourceAddress }: ConnectorOptions): buildConnector.connector => {
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: guard.lookup,
    ...(sourceAddress === undefined ? {} : { family: isIP(sourceAddress) })
  })
  return (options, callback) => {
    if (isIP(options.hostname) !== 0 && !guard.checkAddress(options.hostname).ok) {
      callback(Object.assign(new Error('the address is blocked'), { code: BLOCKED_CODE }), null)
      return
    }
    connect({ ...options, localAddress: sourceAddress ?? null }, callback)
  }
}
