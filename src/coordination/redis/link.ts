/** Asking Redis, when it is there. Failure is a value; a Redis that hangs counts as gone until it answers again. */
import type { Time } from '../time.ts'
import { type Connection, connect, kindOf, withoutCommand } from './connection.ts'

export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false }

export type Link = {
  /** Redis answers, as far as we know: without it nothing is sent. */
  usable(): boolean
  ask<T>(command: (redis: Connection) => Promise<T>): Promise<Answer<T>>
  /** Called whenever Redis can be asked again. */
  onUsable(call: () => void): void
  /** Why Redis cannot be asked, or what it refuses; null when all is well. */
  trouble(): string | null
  close(): void
}

export type LinkOptions = {
  readonly url: string
  readonly name: string
  readonly commandTimeoutMs: number
  readonly time: Time
  readonly onProblem: (problem: string, error: unknown) => void
}

const GONE = { ok: false } as const
/** A Redis that did not answer is asked again this often. */
const PROBE_MS = 500

export function openLink(options: LinkOptions): Link {
  const { time, onProblem } = options
  const redis = connect(options.url, options.name, options.commandTimeoutMs)
  const waiting: (() => void)[] = []
  let closed = false
  let silent = false
  let reported: string | null = null
  let trouble: string | null = 'Redis is not connected yet'

  const usable = (): boolean => redis.status === 'ready' && !silent && !closed

  function report(problem: string, error: unknown): void {
    trouble = problem
    if (reported === problem || closed) return
    reported = problem
    onProblem(problem, withoutCommand(error))
  }

  function welcome(): void {
    silent = false
    trouble = null
    reported = null
    for (const call of waiting) call()
  }

  function probe(): void {
    time.after(PROBE_MS, () => {
      if (!silent || closed || redis.status !== 'ready') return
      redis.ping().then(() => silent && welcome(), probe)
    })
  }

  function failed(error: unknown): void {
    if (error instanceof Error && error.name === 'ReplyError') {
      report(`Redis refuses a command (${kindOf(error)})`, error)
      return
    }
    // A connection that ended says so itself.
    if (redis.status !== 'ready' || silent) return
    silent = true
    report('Redis does not answer', error)
    probe()
  }

  redis.on('error', error => report(`Redis cannot be reached (${kindOf(error)})`, error))
  redis.on('close', () => closed || report(trouble ?? 'Redis is gone', null))
  redis.on('ready', () => closed || welcome())

  return {
    usable,
    async ask(command) {
      if (!usable()) return GONE
      try {
        const value = await command(redis)
        if (usable()) trouble = reported = null
        return { ok: true, value }
      } catch (error) {
        failed(error)
        return GONE
      }
    },
    onUsable: call => void waiting.push(call),
    trouble: () => trouble,
    close() {
      closed = true
      redis.disconnect()
    }
  }
}
