import { LRUCache } from 'lru-cache'
import { createHttpClient, type Exchange, type HttpClient } from '../official/exchange.ts'
import type { UnofficialLine } from '../port.ts'

/** Instances talked to at a time; the one unused for longest loses its connections first. */
const INSTANCES_MAX = 256
/** Calls at a time to one instance, whose engine works them off one by one anyway. */
const CONNECTIONS_PER_INSTANCE = 64

export type InstanceAddress = Pick<UnofficialLine, 'baseUrl' | 'apiKey'>

export type InstanceCall = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body: string | null
  readonly signal: AbortSignal
}

export type Instances = {
  /** One call with the instance's key. Never rejects; an address that is no URL is `unsent` with `INVALID_ADDRESS`. */
  call(address: InstanceAddress, call: InstanceCall): Promise<Exchange>
  close(): Promise<void>
}

export const INVALID_ADDRESS = 'invalid_address'

/** One HTTP client a base URL, opened on first use. */
export function createInstances(timeoutMs: number): Instances {
  const clients = new LRUCache<string, HttpClient>({
    max: INSTANCES_MAX,
    // Closing waits for the calls that still run on it.
    dispose: client => void client.close()
  })

  function clientOf(baseUrl: string): HttpClient | null {
    const known = clients.get(baseUrl)
    if (known !== undefined) return known
    if (!URL.canParse(baseUrl) || !/^https?:/i.test(baseUrl)) return null
    const client = createHttpClient({ baseUrl, timeoutMs, connections: CONNECTIONS_PER_INSTANCE })
    clients.set(baseUrl, client)
    return client
  }

  async function call(address: InstanceAddress, request: InstanceCall): Promise<Exchange> {
    const client = clientOf(address.baseUrl)
    if (client === null) return { kind: 'unsent', reason: INVALID_ADDRESS }
    const headers = ['accept', 'application/json']
    if (address.apiKey !== null) headers.push('x-api-key', address.apiKey)
    if (request.body !== null) headers.push('content-type', 'application/json')
    return client.call({ ...request, headers })
  }

  async function close(): Promise<void> {
    const open = [...clients.values()]
    await Promise.all(open.map(client => client.close()))
  }

  return { call, close }
}
