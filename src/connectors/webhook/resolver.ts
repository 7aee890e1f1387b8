import { lookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'

/** All addresses of a host name; rejects when it has none or no name server answers. */
export type ResolveName = (hostname: string) => Promise<readonly string[]>

const QUERY_TIMEOUT_MS = 1_500
const QUERY_TRIES = 2

/** The system's resolver: it knows the hosts file and search domains, and occupies a thread while it waits. */
const askSystem: ResolveName = hostname =>
  new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, found) => {
      if (error) reject(error)
      else resolve(found.map(one => one.address))
    })
  })

const isLocalName = (hostname: string): boolean => /(^|\.)localhost\.?$/i.test(hostname)

/**
 * Asks the name servers directly, without a thread, because the system resolver has only two threads for the whole
 * process: two tenants with dead name servers would hold up everyone's deliveries. Names that the servers do not know
 * (hosts file, search domains of a cluster) go to the system resolver.
 */
export const createResolver = (): ResolveName => {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES })
  return async hostname => {
    if (isLocalName(hostname)) return askSystem(hostname.replace(/\.$/, ''))
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = [...(v4.status === 'fulfilled' ? v4.value : []), ...(v6.status === 'fulfilled' ? v6.value : [])]
    if (addresses.length > 0) return addresses
    if (v4.status === 'fulfilled' || v6.status === 'fulfilled') return askSystem(hostname)
    const isUnknown = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'].includes(String(v4.reason?.code))
    if (isUnknown) return askSystem(hostname)
    throw v4.reason
  }
}
