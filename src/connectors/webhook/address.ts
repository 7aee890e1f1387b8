import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type IPv4 = ipaddr.IPv4
type IPv6 = ipaddr.IPv6
type Range = [IPv4 | IPv6, number]

/** Why an address may not be connected to. */
export type AddressRefusal =
  | 'not_an_address'
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'link_local'
  | 'unique_local'
  | 'carrier_grade_nat'
  | 'multicast'
  | 'broadcast'
  | 'metadata'
  | 'reserved'

const refusalOfRange: Readonly<Record<string, AddressRefusal>> = {
  unspecified: 'unspecified',
  loopback: 'loopback',
  private: 'private',
  linkLocal: 'link_local',
  uniqueLocal: 'unique_local',
  carrierGradeNat: 'carrier_grade_nat',
  multicast: 'multicast',
  broadcast: 'broadcast'
}

/** Where clouds serve credentials to whoever asks; one of them lies in a range that is public otherwise. */
const metadataAddresses = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254'
])

/** Only 2000::/3 is handed out to the public internet: what lies outside is refused whatever name it has. */
const globalUnicast: Range = [ipaddr.IPv6.parse('2000::'), 3]
const ipv4Compatible: Range = [ipaddr.IPv6.parse('::'), 96]
const nat64: Range = [ipaddr.IPv6.parse('64:ff9b::'), 96]

/** A range in CIDR form, or one address as a range of its own; null when it is neither. */
export const parseRange = (text: string): Range | null => {
  if (isIP(text) !== 0) return [ipaddr.parse(text), isIP(text) === 4 ? 32 : 128]
  const [address = '', bits = '', ...rest] = text.split('/')
  const family = isIP(address)
  if (rest.length > 0 || family === 0 || !/^\d{1,3}$/.test(bits)) return null
  return Number(bits) <= (family === 4 ? 32 : 128) ? [ipaddr.parse(address), Number(bits)] : null
}

const isWithin = (address: IPv4 | IPv6, ranges: readonly Range[]): boolean =>
  ranges.some(range => range[0].kind() === address.kind() && address.match(range[0], range[1]))

const ipv4At = (bytes: readonly number[], offset: number, mask = 0): IPv4 =>
  new ipaddr.IPv4(bytes.slice(offset, offset + 4).map(byte => byte ^ mask))

/** The IPv4 addresses that an IPv6 one carries inside and that a translator or tunnel would lead to. */
const embeddedIpv4 = (address: IPv6): IPv4[] => {
  const bytes = address.toByteArray()
  const range = address.range()
  if (range === 'ipv4Mapped' || range === 'rfc6145' || address.match(nat64)) return [ipv4At(bytes, 12)]
  if (range === '6to4') return [ipv4At(bytes, 2)]
  // Teredo carries the server's address in clear and the client's with every bit turned.
  if (range === 'teredo') return [ipv4At(bytes, 4), ipv4At(bytes, 12, 0xff)]
  // ISATAP puts a fixed mark before the IPv4 address in the lower half, under any prefix.
  const isIsatap = (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe
  return isIsatap ? [ipv4At(bytes, 12)] : []
}

const judgeIpv4 = (address: IPv4, allowed: readonly Range[]): AddressRefusal | null => {
  if (isWithin(address, allowed)) return null
  if (metadataAddresses.has(address.toString())) return 'metadata'
  const range = address.range()
  return range === 'unicast' ? null : (refusalOfRange[range] ?? 'reserved')
}

const judgeIpv6 = (address: IPv6, allowed: readonly Range[]): AddressRefusal | null => {
  if (isWithin(address, allowed)) return null
  if (metadataAddresses.has(address.toString())) return 'metadata'
  const range = address.range()
  const known = refusalOfRange[range]
  if (known !== undefined) return known
  if (address.match(ipv4Compatible)) return 'reserved'
  const embedded = embeddedIpv4(address)
  for (const inner of embedded) {
    const refusal = judgeIpv4(inner, allowed)
    if (refusal !== null) return refusal
  }
  if (embedded.length > 0 && range !== 'unicast') return null
  return range === 'unicast' && address.match(globalUnicast) ? null : 'reserved'
}

/** Turns a dotted tail into hexadecimal groups: the library reads `::1.2.3.4` as if it were `::ffff:1.2.3.4`. */
const parseIpv6 = (text: string): IPv6 => {
  if (!text.includes('.')) return ipaddr.IPv6.parse(text)
  const [address = ''] = text.split('%')
  return ipaddr.IPv6.parse(new URL(`http://[${address}]/`).hostname.slice(1, -1))
}

/**
 * Decides whether deliveries may go to an address: null when they may, else the kind of address that it is. An IPv6
 * address that carries an IPv4 one (mapped, translated, 6to4, NAT64, Teredo, ISATAP) is judged by what it carries.
 */
export const judgeAddress = (text: string, allowed: readonly Range[]): AddressRefusal | null => {
  const family = isIP(text)
  if (family === 0) return 'not_an_address'
  return family === 4 ? judgeIpv4(ipaddr.IPv4.parse(text), allowed) : judgeIpv6(parseIpv6(text), allowed)
}
