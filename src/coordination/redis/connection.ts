/** One connection to Redis, every option of it stated. */
import { Redis } from 'ioredis'
import { SCRIPTS, type ScriptCommands } from './scripts.ts'

export type Connection = Redis & ScriptCommands

const CONNECT_TIMEOUT_MS = 2_000
const RETRY_FIRST_MS = 50
/** A Redis that is back is noticed within about this. */
const RETRY_MAX_MS = 1_000
/** Nodes that lost the same Redis do not come back in step. */
const RETRY_JITTER_MS = 100
const KEEP_ALIVE_MS = 10_000
const DISCONNECT_MS = 500
/** A socket that owes an answer for this many command timeouts is given up. */
const SILENT_TIMEOUTS = 3

/** Redis moved to another machine, and this one only reads: connect anew. */
const movedAway = (error: Error): boolean => error.message.startsWith('READONLY')

/** `redis://` or `rediss://`, with credentials and database; begins to connect, and goes on until it is ended. */
export function connect(url: string, name: string, commandTimeoutMs: number): Connection {
  const redis = new Redis(url, {
    connectionName: name,
    protocol: 2,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: commandTimeoutMs,
    socketTimeout: commandTimeoutMs * SILENT_TIMEOUTS,
    disconnectTimeout: DISCONNECT_MS,
    keepAlive: KEEP_ALIVE_MS,
    noDelay: true,
    // What has no answer when the connection ends fails at once: whoever asked knows what to do without Redis.
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // Done by hand, because the library's own leaves a rejection behind when the connection ends again at once.
    autoResubscribe: false,
    enableReadyCheck: true,
    enableAutoPipelining: false,
    disableClientInfo: true,
    reconnectOnError: movedAway,
    retryStrategy: times =>
      Math.min(RETRY_FIRST_MS * 2 ** Math.min(times - 1, 10), RETRY_MAX_MS) + Math.random() * RETRY_JITTER_MS,
    scripts: SCRIPTS
  })
  return redis as Connection
}

/** For logs and operators: the kind of an error, never what was sent. */
export function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null
  if (code !== null) return code
  return error.name === 'ReplyError' ? (/^[A-Z]+/.exec(error.message)?.[0] ?? 'refused') : error.name
}

/** The client's errors carry the command with its arguments, which may be a password: those are told by their kind only. */
export const withoutCommand = (error: unknown): unknown =>
  error instanceof Error && (error.name === 'ReplyError' || 'command' in error) ? new Error(kindOf(error)) : error
