/** AES-256-GCM, one IV a message. Text form: base64 of IV (12 bytes), tag (16 bytes) and ciphertext. */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { entropy } from './entropy.ts'

export const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

/** `context` is authenticated but not stored: a ciphertext moved elsewhere does not open. */
export function encrypt(key: Buffer, plain: string | Buffer, context: string): string {
  const iv = entropy(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(Buffer.from(context))
  const head = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain)
  const tail = cipher.final()
  return Buffer.concat([iv, cipher.getAuthTag(), head, tail]).toString('base64')
}

/** Null when the key is not the right one or a byte was changed. */
export function decrypt(key: Buffer, sealed: string, context: string): Buffer | null {
  const bytes = Buffer.from(sealed, 'base64')
  if (bytes.length < IV_BYTES + TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
  } catch {
    return null
  }
}
