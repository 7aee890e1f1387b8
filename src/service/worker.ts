/** The thread of the projections: as a reader of the embedded log, or as a follower of EventStoreDB. */
import { parentPort, workerData } from 'node:worker_threads'
import { createAnchoring } from '../log/eventstore/anchoring.ts'
import { openEventStoreLog } from '../log/eventstore/home.ts'
import { readLogId } from '../log/sqlite/log-id.ts'
import { createReader } from '../log/sqlite/reader.ts'
import { logFile, openForReading } from '../log/sqlite/schema.ts'
import { projections } from '../projections/all.ts'
import { createRunner, type ReadPage, type Runner } from '../projections/runner.ts'
import { createPageQueue } from './page-queue.ts'
import { isToWorker, type WorkerData, type WorkerMessage } from './worker-protocol.ts'

const data = workerData as WorkerData
const port = parentPort
if (!port) throw new Error('the worker thread is started by the service')

const say = (message: WorkerMessage): void => port.postMessage(message)
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function project(logId: string, readPage: ReadPage): Runner {
  const onPage = (done: Extract<WorkerMessage, { kind: 'views:page' }>['done']): void =>
    say({ kind: 'views:page', done })
  return createRunner({ file: data.viewsFile, logId, projections, readPage, onPage })
}

if (data.home === 'embedded') reading(data)
else await following(data)

function reading({ dataDir, grown }: Extract<WorkerData, { home: 'embedded' }>): void {
  const db = openForReading(logFile(dataDir))
  const runner = project(readLogId(dataDir), createReader(db).page)
  const advance = (): void => {
    runner.advance().catch(error => say({ kind: 'views:failed', reason: reasonOf(error) }))
  }
  grown.on('message', advance)
  port?.on('message', (message: unknown) => {
    if (!isToWorker(message) || message.kind !== 'views:stop') return
    grown.close()
    runner.close()
    db.close()
    port?.close()
  })
  say({ kind: 'views:ready', position: runner.position() })
  advance()
}

async function following({
  url,
  streamPrefix,
  numbersFile
}: Extract<WorkerData, { home: 'eventstore' }>): Promise<void> {
  const log = await openEventStoreLog({ url, streamPrefix, numbersFile })
  const queue = createPageQueue()
  const runner = project(log.id, queue.read)
  const start = runner.position()
  const anchoring = createAnchoring({
    log,
    start,
    onAnchor: line => say({ kind: 'anchors:written', line }),
    onProblem: error => say({ kind: 'anchors:problem', reason: reasonOf(error) })
  })
  const follower = log.follow(start, async page => {
    queue.add(page)
    anchoring.followed(page)
    await runner.advance().catch(error => {
      say({ kind: 'views:failed', reason: reasonOf(error) })
      throw error
    })
  })
  async function stop(): Promise<void> {
    await follower.close()
    runner.close()
    await log.close()
    port?.close()
  }
  const doneWith = (work: Promise<void>): void => {
    work.then(
      () => say({ kind: 'anchors:done', problem: null }),
      error => say({ kind: 'anchors:done', problem: reasonOf(error) })
    )
  }
  port?.on('message', (message: unknown) => {
    if (!isToWorker(message)) return
    if (message.kind === 'anchors:begin') doneWith(anchoring.begin(message.privateKey))
    else if (message.kind === 'anchors:end') doneWith(anchoring.end())
    else stop().catch(error => say({ kind: 'views:failed', reason: reasonOf(error) }))
  })
  say({ kind: 'views:ready', position: runner.position() })
}
