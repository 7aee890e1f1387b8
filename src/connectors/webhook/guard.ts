import { isIP, type LookupFunction } from 'node:net'
import { type AddressRefusal, judgeAddress, parseRange } from './address.ts'
import { createResolver, type ResolveName } from './resolver.ts'

export type GuardRefusal = AddressRefusal | 'invalid_url' | 'unsupported_scheme' | 'user_info' | 'unresolvable'
export type GuardVerdict = { ok: true } | { ok: false; reason: GuardRefusal }
export type ResolvedVerdict = { ok: true; addresses: readonly string[] } | { ok: false; reason: GuardRefusal }

/** Codes of the errors that the guard raises inside a connection attempt. */
export const BLOCKED_CODE = 'OUTBOUND_ADDRESS_BLOCKED'
export const UNRESOLVED_CODE = 'OUTBOUND_NAME_UNRESOLVED'

/** Decides where the service may connect to on behalf of a tenant (decisions §5). */
export type Guard = {
  /** Syntax, and the address itself where the host is one. Names are not looked up. */
  checkUrl(url: string): GuardVerdict
  /** One address in text form, IPv4 or IPv6 without brackets. */
  checkAddress(ip: string): GuardVerdict
  /** For configuration time: `checkUrl`, then every address of the name must be allowed. Never rejects. */
  resolve(url: string): Promise<ResolvedVerdict>
  /** For connection time: resolves, checks and hands out in one step, so that no other answer can come in between. */
  readonly lookup: LookupFunction
}

export type GuardOptions = {
  /** `OUTBOUND_ALLOWED_CIDRS`: ranges let through although they are private. One that is no range throws. */
  readonly allowedCidrs: readonly string[]
  readonly lookup?: ResolveName
}

const MAX_URL_LENGTH = 2048
const LOOKUP_TIMEOUT_MS = 5_000

const refuse = (reason: GuardRefusal): { ok: false; reason: GuardRefusal } => ({ ok: false, reason })

/** A host as the URL parser leaves it, without the brackets of an IPv6 address. */
const bareHost = (hostname: string): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname)

const guardError = (code: string, message: string, reason: GuardRefusal): NodeJS.ErrnoException =>
  Object.assign(new Error(message), { code, reason })

/** Refuses forms that parsers read differently from each other before any parser sees them. */
const parseUrl = (text: string): { ok: true; url: URL } | { ok: false; reason: GuardRefusal } => {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return refuse('invalid_url')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return refuse('unsupported_scheme')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: URL parsers drop them silently, so they are refused here.
  if (/[\u0000-\u0020\u007f\\]/.test(text)) return refuse('invalid_url')
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1]
  if (authority === undefined) return refuse('invalid_url')
  if (authority.includes('@')) return refuse('user_info')
  return { ok: true, url }
}

const withDeadline = async <T>(work: Promise<T>, timeoutMs: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('name lookup timed out')), timeoutMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** The addresses of a name, each of them allowed; else an error that says which rule it broke. */
const checkedAddresses = async (
  resolveName: ResolveName,
  check: (ip: string) => GuardVerdict,
  hostname: string
): Promise<readonly string[] | NodeJS.ErrnoException> => {
  const addresses = await withDeadline(resolveName(hostname), LOOKUP_TIMEOUT_MS).catch(() => [])
  if (addresses.length === 0) return guardError(UNRESOLVED_CODE, 'the host name does not resolve', 'unresolvable')
  for (const address of addresses) {
    const verdict = check(address)
    if (!verdict.ok) return guardError(BLOCKED_CODE, 'the host name leads to a blocked address', verdict.reason)
  }
  return addresses
}

const createLookup =
  (resolveName: ResolveName, check: (ip: string) => GuardVerdict): LookupFunction =>
  (hostname, options, callback) => {
    const wanted = options.family === 4 || options.family === 'IPv4' ? 4 : options.family ? 6 : 0
    void checkedAddresses(resolveName, check, hostname).then(found => {
      if (found instanceof Error) return callback(found, '', 0)
      const usable = found
        .map(address => ({ address, family: isIP(address) }))
        .filter(one => wanted === 0 || one.family === wanted)
      const [first] = usable
      if (first === undefined) {
        return callback(guardError(UNRESOLVED_CODE, 'the host name has no usable address', 'unresolvable'), '', 0)
      }
      return options.all ? callback(null, usable) : callback(null, first.address, first.family)
    })
  }

/** Builds the guard. It holds no state: a name is looked up anew for each check and for each connection. */
export const createGuard = ({ allowedCidrs, lookup: resolveName = createResolver() }: GuardOptions): Guard => {
  const allowed = allowedCidrs.map(text => {
    const range = parseRange(text)
    if (range === null) throw new Error('an allowed address range is not in CIDR form')
    return range
  })
  const checkAddress = (ip: string): GuardVerdict => {
    const refusal = judgeAddress(ip, allowed)
    return refusal === null ? { ok: true } : refuse(refusal)
  }
  /** The parser has turned decimal, octal and hexadecimal hosts into plain addresses by now. */
  const checkHost = (hostname: string): GuardVerdict =>
    isIP(bareHost(hostname)) === 0 ? { ok: true } : checkAddress(bareHost(hostname))

  return {
    checkAddress,
    checkUrl: text => {
      const parsed = parseUrl(text)
      return parsed.ok ? checkHost(parsed.url.hostname) : parsed
    },
    resolve: async text => {
      const parsed = parseUrl(text)
      if (!parsed.ok) return parsed
      const host = bareHost(parsed.url.hostname)
      const verdict = checkHost(parsed.url.hostname)
      if (!verdict.ok || isIP(host) !== 0) return verdict.ok ? { ok: true, addresses: [host] } : verdict
      const found = await checkedAddresses(resolveName, checkAddress, host)
      if (!(found instanceof Error)) return { ok: true, addresses: found }
      return refuse((found as NodeJS.ErrnoException & { reason: GuardRefusal }).reason)
    },
    lookup: createLookup(resolveName, checkAddress)
  }
}
