/** A part of a stream that can only be read from its beginning. */
import { Readable } from 'node:stream'

/**
 * Bytes `first` to `last` of `source`, both included, at the reader's pace. The source is destroyed as soon as they are
 * through, or when nobody wants them any more. A source that ends or fails before them ends this one in an error.
 */
export function cutTo(source: Readable, { first, last }: { first: number; last: number }): Readable {
  let at = 0
  const part = new Readable({
    read: () => void source.resume(),
    destroy(error, done) {
      source.destroy()
      done(error)
    }
  })
  source.pause()
  source.on('data', (piece: Buffer) => {
    const wanted = piece.subarray(Math.max(0, first - at), Math.max(0, last + 1 - at))
    at += piece.length
    if (wanted.length > 0 && !part.push(wanted)) source.pause()
    if (at <= last) return
    part.push(null)
    source.destroy()
  })
  source.on('error', error => {
    // Our own destroying is no failure of the bytes that are through.
    if (at <= last) part.destroy(error)
  })
  source.on('end', () => {
    if (at <= last) part.destroy(new Error('a medium ends before its end'))
  })
  return part
}
