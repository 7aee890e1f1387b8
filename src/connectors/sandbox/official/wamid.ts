import { randomBytes } from 'node:crypto'

const OUTBOUND = '\x11'
const INBOUND = '\x12'

/**
 * Makes message ids of the layout seen on the real platform: base64 of a header, the phone digits, the direction and a
 * hex-text id. A random start plus a counter keeps ids unique over restarts at the price of one concatenation.
 */
export function createWamids() {
  const start = randomBytes(4).toString('hex').toUpperCase()
  let counter = 0
  const make = (peer: string, direction: string) => {
    counter++
    const id = start + counter.toString(16).toUpperCase().padStart(10, '0')
    const phone = String.fromCharCode(peer.length & 0xff) + peer
    return `wamid.${Buffer.from(`\x1c\x18${phone}\x15\x02\x00${direction}\x18\x12${id}\x00`, 'latin1').toString('base64')}`
  }
  return {
    outbound: (peer: string) => make(peer, OUTBOUND),
    inbound: (peer: string) => make(peer, INBOUND)
  }
}
