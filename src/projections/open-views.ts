/** The views as those see them who ask: a read-only connection of its own, and the news of each folded page. */
import Database from 'better-sqlite3'
import { createCaughtUp } from './caught-up.ts'
import type { ChannelRow, DestinationRow, KeyRow, PageDone, Views } from './port.ts'
import { accountQueries } from './queries/accounts.ts'
import { channelQueries } from './queries/channels.ts'
import { contactQueries } from './queries/contacts.ts'
import { deliveryListQuery } from './queries/delivery-list.ts'
import { messageListQueries } from './queries/message-list.ts'
import { messageQueries } from './queries/messages.ts'
import { metricsQueries } from './queries/metrics.ts'
import { createNumbers } from './queries/numbers.ts'
import { outboxQueries } from './queries/outbox.ts'
import { placeQueries } from './queries/places.ts'
import { queueQueries } from './queries/queue.ts'
import { templateQueries } from './queries/templates.ts'
import { todoQueries } from './queries/todos.ts'
import { createRecall } from './recall.ts'
import { readCheckpoints } from './views-file.ts'

/** Architecture, rule 7. */
const CAUGHT_UP_LIMIT_MS = 250
const LOCK_WAIT_MS = 250

export type OpenViewsOptions = {
  /** Must exist: the runner creates it. */
  readonly file: string
  /** The log's number of a message's stream, null when there is none: `log.numberOf('message-' + id)`. */
  readonly messageNoOf: (messageId: string) => number | null
  readonly onClose?: () => void
}

export type OpenedViews = Views & {
  /** The runner has committed a page: wakes the waiters, then tells the listeners. */
  pageDone(done: PageDone): void
}

export function openViews({ file, messageNoOf, onClose }: OpenViewsOptions): OpenedViews {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: LOCK_WAIT_MS })
  db.pragma('temp_store = MEMORY')
  const numbers = createNumbers(db)
  const knownChannels = createRecall<readonly ChannelRow[]>()
  const knownKeys = createRecall<KeyRow>()
  const knownDestinations = createRecall<DestinationRow>()
  const listeners: ((page: PageDone) => void)[] = []
  const caughtUp = createCaughtUp(startOf(db))
  return {
    caughtUp: (position, limitMs = CAUGHT_UP_LIMIT_MS) => caughtUp.wait(position, limitMs),
    position: caughtUp.position,
    onPage: listener => void listeners.push(listener),
    pageDone(done) {
      // Before anybody is woken who waited for this page.
      if (done.touched.channel) knownChannels.forget()
      if (done.touched.key) knownKeys.forget()
      if (done.touched.destination) knownDestinations.forget()
      caughtUp.advance(done.position)
      for (const listener of listeners) listener(done)
    },
    ...channelQueries(db, knownChannels),
    ...messageQueries(db, numbers, messageNoOf),
    ...messageListQueries(db, numbers),
    ...metricsQueries(db, numbers),
    ...contactQueries(db, numbers),
    ...templateQueries(db),
    ...queueQueries(db),
    ...accountQueries(db, knownKeys, knownDestinations),
    ...outboxQueries(db, numbers),
    deliveries: deliveryListQuery(db),
    ...todoQueries(db),
    ...placeQueries(db),
    status: () => readCheckpoints(db),
    close() {
      caughtUp.close()
      db.close()
      onClose?.()
    }
  }
}

function startOf(db: Database.Database): number {
  const positions = readCheckpoints(db).map(checkpoint => checkpoint.position)
  return positions.length === 0 ? 0 : Math.min(...positions)
}
