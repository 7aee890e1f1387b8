/**
 * The file of one received medium: a header of fixed length, then 64 KiB chunks, each sealed by itself with AES-256-GCM,
 * so that a range is opened from the middle without reading what stands before it. The file's key and its facts are
 * sealed under the contact's key: when that key is erased, nothing in here can be read any more.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { decrypt, encrypt, KEY_BYTES } from '../log/encryption.ts'

export const CHUNK_BYTES = 64 * 1024
export const HEADER_BYTES = 1024
export const TAG_BYTES = 16
/** Largest medium that is kept or passed on (channel-service, limits). */
export const MEDIA_BYTES_MAX = 100 * 1024 * 1024
const NONCE_BYTES = 12
const FORMAT = 1

export type FileSeal = { readonly messageId: string; readonly contactKey: Buffer }
export type OpenFile = {
  readonly kind: 'open'
  readonly size: number
  readonly type: string
  /** Bytes `first` to `last`, both included. Ends the file's use; without it `close` must be called. */
  body(first: number, last: number): Readable
  close(): Promise<void>
}
/** `damaged`: cut short, altered, or sealed under another key. */
export type Opened = OpenFile | { readonly kind: 'missing' } | { readonly kind: 'damaged' }

export class MediaTooLarge extends Error {
  override readonly name = 'MediaTooLarge'
}

type Facts = { readonly key: string; readonly type: string; readonly size: number }

const contextOf = (messageId: string): string => `media|${messageId}`

/** Each file has a key of its own, so the chunk's place alone makes its nonce unique, and a chunk that was moved does not open. */
function nonceOf(index: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.writeUInt32BE(index, NONCE_BYTES - 4)
  return nonce
}

function sealChunk(key: Buffer, index: number, plain: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index))
  const sealed = cipher.update(plain)
  cipher.final()
  return Buffer.concat([sealed, cipher.getAuthTag()])
}

function openChunk(key: Buffer, index: number, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  const plain = decipher.update(sealed.subarray(0, -TAG_BYTES))
  decipher.final()
  return plain
}

/**
 * Writes a medium into a new file at `path` and waits until it is on the disk. Resolves with its size in bytes.
 * Rejects with `MediaTooLarge`, with the body's own error, or with the disk's (`ENOSPC`); what was written stays behind.
 */
export async function writeMediaFile(
  path: string,
  { messageId, contactKey }: FileSeal,
  { type, created }: { type: string; created: string },
  body: AsyncIterable<Buffer>
): Promise<number> {
  const key = randomBytes(KEY_BYTES)
  const handle = await open(path, 'wx', 0o600)
  try {
    await handle.appendFile(Buffer.alloc(HEADER_BYTES, ' '))
    const size = await writeChunks(handle, key, body)
    const facts: Facts = { key: key.toString('base64'), type, size }
    const sealed = encrypt(contactKey, JSON.stringify(facts), contextOf(messageId))
    const header = Buffer.from(`${JSON.stringify({ v: FORMAT, created, sealed }).padEnd(HEADER_BYTES - 1)}\n`)
    if (header.length !== HEADER_BYTES) throw new Error('the facts of a medium do not fit into its header')
    await handle.write(header, 0, HEADER_BYTES, 0)
    await handle.sync()
    return size
  } finally {
    await handle.close()
  }
}

async function writeChunks(handle: FileHandle, key: Buffer, body: AsyncIterable<Buffer>): Promise<number> {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  let filled = 0
  let index = 0
  const flush = async (): Promise<void> => {
    // It is written to its end or rejects: a disk that is full never leaves half a chunk unnoticed.
    await handle.appendFile(sealChunk(key, index++, chunk.subarray(0, filled)))
    filled = 0
  }
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > MEDIA_BYTES_MAX) throw new MediaTooLarge()
    for (let taken = 0; taken < piece.length; ) {
      const copied = piece.copy(chunk, filled, taken)
      taken += copied
      filled += copied
      if (filled === CHUNK_BYTES) await flush()
    }
  }
  if (filled > 0) await flush()
  return size
}

/** Opens the file and proves by its header that it is whole. Rejects only when the disk cannot be read. */
export async function openMediaFile(path: string, { messageId, contactKey }: FileSeal): Promise<Opened> {
  let handle: FileHandle
  try {
    handle = await open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { kind: 'missing' }
    throw error
  }
  const close = (): Promise<void> => handle.close()
  try {
    const facts = await readFacts(handle, contactKey, contextOf(messageId))
    if (facts) {
      const { key, type, size } = facts
      const keyBytes = Buffer.from(key, 'base64')
      return { kind: 'open', size, type, body: (first, last) => bodyOf(handle, keyBytes, size, first, last), close }
    }
  } catch (error) {
    await close()
    throw error
  }
  await close()
  return { kind: 'damaged' }
}

async function readFacts(handle: FileHandle, contactKey: Buffer, context: string): Promise<Facts | null> {
  const bytes = Buffer.alloc(HEADER_BYTES)
  await handle.read(bytes, 0, HEADER_BYTES, 0)
  const sealed = sealedIn(bytes)
  const plain = sealed === null ? null : decrypt(contactKey, sealed, context)
  if (!plain) return null
  const facts = JSON.parse(plain.toString()) as Facts
  const { size: length } = await handle.stat()
  const expected = HEADER_BYTES + facts.size + Math.ceil(facts.size / CHUNK_BYTES) * TAG_BYTES
  return length === expected ? facts : null
}

function sealedIn(header: Buffer): string | null {
  try {
    const { v, sealed } = JSON.parse(header.toString()) as { v?: unknown; sealed?: unknown }
    return v === FORMAT && typeof sealed === 'string' ? sealed : null
  } catch {
    return null
  }
}

/** Opens one chunk a time, when the reader asks for it. */
function bodyOf(handle: FileHandle, key: Buffer, size: number, first: number, last: number): Readable {
  const buffer = Buffer.alloc(CHUNK_BYTES + TAG_BYTES)
  let at = first

  async function next(): Promise<Buffer | null> {
    if (at > last) return null
    const index = Math.floor(at / CHUNK_BYTES)
    const start = index * CHUNK_BYTES
    const length = Math.min(CHUNK_BYTES, size - start) + TAG_BYTES
    const sealed = buffer.subarray(0, length)
    await readFully(handle, sealed, HEADER_BYTES + index * (CHUNK_BYTES + TAG_BYTES))
    const piece = openChunk(key, index, sealed).subarray(at - start, last + 1 - start)
    at += piece.length
    return piece
  }

  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      next().then(
        piece => this.push(piece),
        error => this.destroy(error)
      )
    },
    destroy(error, done) {
      handle.close().then(
        () => done(error),
        closing => done(error ?? closing)
      )
    }
  })
}

async function readFully(handle: FileHandle, into: Buffer, position: number): Promise<void> {
  for (let filled = 0; filled < into.length; ) {
    const { bytesRead } = await handle.read(into, filled, into.length - filled, position + filled)
    if (bytesRead === 0) throw new Error('a medium ends before its end')
    filled += bytesRead
  }
}
