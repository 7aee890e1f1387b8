/** Logs and events for tests. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { NewEvent, RecordedEvent } from '../../src/log/port.ts'
import type { SqliteLog } from '../../src/log/sqlite/home.ts'
import { openSqliteLog } from '../../src/log/sqlite/home.ts'

type Scope = { teardown(run: () => unknown): unknown }

/** An event whose id, and therefore content, is told apart by `name`. */
export function event(name: string, text = name): NewEvent {
  const meta = { tenant: 'tn_test', trace: null, cause: null, source: 'test', at: '2024-05-01T00:00:00.000Z' }
  return {
    id: `evt_${name}`,
    type: 'Tested',
    body: JSON.stringify({ v: 1, data: { text } }),
    meta: JSON.stringify(meta)
  }
}

export async function all(events: AsyncIterable<RecordedEvent>): Promise<RecordedEvent[]> {
  const list: RecordedEvent[] = []
  for await (const one of events) list.push(one)
  return list
}

/** A directory that goes away with the test. */
export function temporaryDirectory(t: Scope): string {
  const directory = mkdtempSync(join(tmpdir(), 'ledgerline-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Starts a worker for logs; it does not keep the process alive. */
export function startLogWorker(): Worker {
  const worker = new Worker(new URL('./log-worker.js', import.meta.url))
  worker.unref()
  return worker
}

let shared: Worker | null = null

export type ThreadedLogOptions = {
  readonly dataDir?: string
  /** Default: one that all logs of the test file share. */
  readonly worker?: Worker
  readonly onAnchor?: (line: string) => void
}

/** The embedded log with a real worker thread; closed with the test, if not before. */
export async function openThreadedLog(t: Scope, options: ThreadedLogOptions = {}): Promise<SqliteLog> {
  const { dataDir = temporaryDirectory(t), onAnchor = () => {} } = options
  shared ??= options.worker ? null : startLogWorker()
  const { port1, port2 } = new MessageChannel()
  ;(options.worker ?? shared)?.postMessage({ dataDir, port: port2 }, [port2])
  t.teardown(() => port1.close())
  const log = await openSqliteLog({ dataDir, worker: port1, onAnchor })
  t.teardown(() => log.close())
  return log
}
