/**
 * The thread of the batches: thousands of messages in one request are parsed, sealed and admitted here, so that nobody else
 * waits for them. To the log it is one more node: what it decides is checked by the expected revision of each stream.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { createBatchAdmission } from '../actors/batch-admission.ts'
import { systemClock } from '../actors/clock.ts'
import { createEntities } from '../actors/entity.ts'
import { nactMailboxes } from '../actors/mailbox.ts'
import { createSlices } from '../actors/slices.ts'
import { message as messageDecider } from '../domain/message.ts'
import { createBatchWork } from '../http/batch-work.ts'
import { BATCH_APPENDS_AT_ONCE, openEventStoreLog } from '../log/eventstore/home.ts'
import type { EventLog } from '../log/port.ts'
import { LogUnavailable } from '../log/port.ts'
import { openSqliteLog } from '../log/sqlite/home.ts'
import { openViews } from '../projections/open-views.ts'
import type { PageDone } from '../projections/port.ts'
import { type BatchWorkerData, type FromBatches, isToBatches, type LogDoor, type ToBatches } from './batch-protocol.ts'
import { mastersOf, openKeyring } from './open-keyring.ts'
import { standBackOf } from './stand-back.ts'
import { BEHIND_REQUESTS, giveWay } from './thread-priority.ts'

/** What all batches together begin in one turn of the event loop; then the log's answers have theirs. */
const SLICE_MS = 2
/**
 * Embedded: two commits' worth. EventStoreDB: of two appends each, so that all places of batches there are taken, and
 * none waits for long.
 */
const ITEMS_AT_ONCE = { embedded: 512, eventstore: 2 * BATCH_APPENDS_AT_ONCE }

const data = workerData as BatchWorkerData
const port = parentPort
if (!port) throw new Error('the thread of the batches is started by the service')
giveWay(BEHIND_REQUESTS)

const say = (message: FromBatches, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer)
const reasonOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

async function openLog(door: LogDoor): Promise<EventLog> {
  if (door.home === 'eventstore') return openEventStoreLog({ ...door, appendsAtOnce: BATCH_APPENDS_AT_ONCE })
  const { dataDir, writer } = door
  const opened = await openSqliteLog({ dataDir, worker: writer })
  return {
    ...opened,
    async close() {
      await opened.close()
      // An open port would keep the thread alive.
      writer.close()
    }
  }
}

const log = await openLog(data.log)
const views = openViews({ file: data.viewsFile, messageNoOf: id => log.numberOf(`message-${id}`) })
const keyring = openKeyring(log, views, mastersOf(data.masterKeys))
const slices = createSlices(SLICE_MS)
const standBack = standBackOf(data.singles)
let written = 0
const onCrash = (error: unknown, stream: string): void =>
  say({ kind: 'batches:crash', reason: reasonOf(error), stream })
const mailboxes = nactMailboxes(error => onCrash(error, 'unknown'))
const messages = createEntities(messageDecider, {
  log,
  keyring,
  clock: systemClock,
  mailboxes,
  // The main thread writes the same streams.
  shared: true,
  onAppended(_tenant, position) {
    written = Math.max(written, position)
  },
  onCrash
})
const work = createBatchWork({
  sendMany: createBatchAdmission(
    // The main thread has waited for what was configured before it handed the batch on.
    { log, keyring, views, clock: systemClock, aggregates: { messages }, own: { configurationSettled: () => null } },
    { slices, itemsAtOnce: ITEMS_AT_ONCE[data.log.home], onItem: standBack }
  ),
  nextSlice() {
    standBack()
    return slices.next()
  }
})

async function answer({ id, sender, ref, body }: Extract<ToBatches, { kind: 'batches:work' }>): Promise<void> {
  try {
    const result = await work(sender, ref, Buffer.from(body.buffer, body.byteOffset, body.byteLength))
    if (result.ok) say({ kind: 'batches:done', id, body: result.value, written }, [result.value.buffer as ArrayBuffer])
    else say({ kind: 'batches:refused', id, refusal: result, written })
  } catch (error) {
    if (error instanceof LogUnavailable)
      say({ kind: 'batches:refused', id, refusal: { ok: false, code: 'overloaded' }, written })
    else say({ kind: 'batches:broken', id, reason: reasonOf(error), written })
  }
}

async function letGo(id: number, contactId: string): Promise<void> {
  keyring.forgetContact(contactId)
  await keyring.settled(contactId)
  await log.settled()
  say({ kind: 'batches:gone', id })
}

function pageDone(done: PageDone): void {
  for (const contactId of done.touched.contact ?? []) keyring.forgetContact(contactId)
  for (const contactId of done.touched.relinked ?? []) keyring.reread(contactId)
  // Whoever waits for the page goes on after all of it.
  views.pageDone(done)
}

async function stop(): Promise<void> {
  await messages.stop()
  mailboxes.stop()
  views.close()
  await log.close()
  port?.close()
}

port.on('message', (message: unknown) => {
  if (!isToBatches(message)) return
  if (message.kind === 'batches:work') void answer(message)
  else if (message.kind === 'batches:page') pageDone(message.done)
  else if (message.kind === 'batches:let-go') void letGo(message.id, message.contactId)
  else void stop()
})
say({ kind: 'batches:ready' })
