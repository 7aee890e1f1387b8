import type { Clock } from '../clock.ts'
import { CallTimeout } from './errors.ts'

/** The client's own deadline comes first; ours catches the calls that the client never ends. */
const GRACE_MS = 100

/** Rejects with CallTimeout when the work takes longer; what it does later is ignored. */
export function within<T>(
  clock: Clock,
  deadlineMs: number,
  work: Promise<T>,
  onTimeout: () => void = () => {}
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(deadlineMs + GRACE_MS, () => {
      onTimeout()
      reject(new CallTimeout(`no answer within ${deadlineMs} ms`))
    })
    work.then(resolve, reject).finally(cancel)
  })
}

/** A stream of the client, as far as reading it to its end needs. */
export type Readable<T> = {
  on(event: 'data', listener: (item: T) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
}

/** Reads a finite stream whole. The caller has bounded it by a count. */
export function collect<T>(stream: Readable<T>): Promise<T[]> {
  return new Promise((resolve, reject) => {
    const items: T[] = []
    stream.on('data', item => items.push(item))
    stream.on('error', reject)
    stream.on('end', () => resolve(items))
    stream.on('close', () => reject(new Error('the connection closed in the middle of a read')))
  })
}
