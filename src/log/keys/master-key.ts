/** The master key wraps the keys of tenants and of the anchors; it stands in the settings or in `DATA_DIR/master.key`. */
import { createHash, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decrypt, encrypt, KEY_BYTES } from '../encryption.ts'

export type MasterKey = {
  /** Says which master key wrapped a thing, without telling the key. */
  readonly id: string
  wrap(plain: Buffer, context: string): string
  /** Null when this is not the key that wrapped it. */
  unwrap(wrapped: string, context: string): Buffer | null
  /** Another key, derived for one named purpose. */
  derive(purpose: string): Buffer
}

export function masterKey(key: Buffer): MasterKey {
  return {
    id: createHash('sha256').update('ledgerline master key').update(key).digest('hex').slice(0, 16),
    wrap: (plain, context) => encrypt(key, plain, context),
    unwrap: (wrapped, context) => decrypt(key, wrapped, context),
    derive: purpose => Buffer.from(hkdfSync('sha256', key, '', purpose, KEY_BYTES))
  }
}

export const masterKeyFile = (dataDir: string): string => join(dataDir, 'master.key')

/**
 * The key of the settings, or that of the file, or (beside no log yet) a new one written with mode 600.
 * Null: there is a log and no key for it.
 */
export function findMasterKey(options: {
  dataDir: string
  configured: string | null
  logExists: boolean
}): Buffer | null {
  if (options.configured !== null) return Buffer.from(options.configured, 'base64')
  const file = masterKeyFile(options.dataDir)
  if (existsSync(file)) {
    const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64')
    return key.length === KEY_BYTES ? key : null
  }
  if (options.logExists) return null
  const key = randomBytes(KEY_BYTES)
  writeFileSync(file, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  return key
}
