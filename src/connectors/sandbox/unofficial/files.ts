import { fileGone } from './errors.ts'
import type { Routes } from './routing.ts'
import type { Timers } from './timers.ts'

/** Files on local storage live this long by default (real-world milliseconds, to be scaled). */
const LIFETIME_MS = 180_000
const FILES_MAX = 2000

export type Files = {
  /** Stores a file until it expires and gives its path, `/api/files/{session}/{messageId}.{ext}`. */
  put(session: string, messageId: string, mimetype: string, bytes: Buffer): string
  get(path: string): { mimetype: string; bytes: Buffer } | undefined
  reset(): void
}

const EXTENSIONS: Record<string, string> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'video/mp4': 'mp4',
  'audio/ogg': 'ogg',
  'audio/ogg; codecs=opus': 'oga',
  'audio/mpeg': 'mp3',
  'application/pdf': 'pdf',
  'text/plain': 'txt'
}

export function createFiles(timers: Timers, scale: (ms: number) => number): Files {
  const stored = new Map<string, { mimetype: string; bytes: Buffer; cancel: () => void }>()

  function drop(path: string) {
    stored.get(path)?.cancel()
    stored.delete(path)
  }

  return {
    put(session, messageId, mimetype, bytes) {
      const path = `/api/files/${session}/${messageId}.${EXTENSIONS[mimetype] ?? 'bin'}`
      drop(path)
      const oldest = stored.keys().next()
      if (stored.size >= FILES_MAX && !oldest.done) drop(oldest.value)
      const cancel = timers.after(scale(LIFETIME_MS), () => stored.delete(path))
      stored.set(path, { mimetype, bytes, cancel })
      return path
    },
    get: path => stored.get(path),
    reset() {
      for (const path of [...stored.keys()]) drop(path)
    }
  }
}

export const fileRoutes: Routes = {
  'GET /api/files/:session/:file': (world, { params }) => {
    const found = world.files.get(`/api/files/${params.session}/${params.file}`)
    return found ? { kind: 'bytes', status: 200, type: found.mimetype, body: found.bytes } : fileGone()
  }
}
