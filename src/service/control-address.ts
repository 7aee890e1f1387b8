/** Where the control socket is, as both of its ends must know. */
import { join, relative, resolve } from 'node:path'

/** What the address of a Unix socket holds on every system that we know, its end mark included. */
const ADDRESS_BYTES_MAX = 104

export const socketFile = (dataDir: string): string => join(dataDir, 'control.sock')

/** The shorter of its two names, from the root or from here; null when both are too long. */
export function socketAddress(dataDir: string, here = process.cwd()): string | null {
  const absolute = resolve(here, socketFile(dataDir))
  const names = [absolute, relative(here, absolute)].filter(name => Buffer.byteLength(name) < ADDRESS_BYTES_MAX)
  return names[0] ?? null
}
