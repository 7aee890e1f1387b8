/** The deliverer: what stands in the outbox reaches its receiver, at least once, signed, with every outcome in the log. */
import { LRUCache } from 'lru-cache'
import type { WebhookPoster } from '../connectors/webhook/post.ts'
import type { DestinationEvent } from '../domain/destination.ts'
import type { DeliveryOutcome } from '../domain/record.ts'
import { shardOf } from '../domain/shards.ts'
import type { DestinationSecrets } from '../domain/tenant.ts'
import { decode } from '../log/codec.ts'
import type { DeliveryRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import { backoffMs } from './backoff.ts'
import { iso } from './clock.ts'
import { type Core, now, ownCommand, unseal } from './core.ts'
import { createDeliveryLane, type DeliveryLane } from './delivery-lane.ts'
import { render } from './envelope.ts'
import { createOutcomeRecorder } from './outcome-recorder.ts'
import type { ShardWorker } from './shard-work.ts'

export type DelivererOptions = {
  readonly core: Core
  readonly poster: WebhookPoster
  /** The signature header of a body under these secrets, the newest first. */
  readonly sign: (body: Buffer, secrets: readonly string[], unixSeconds: number) => string
  /** Waits between attempts; one more attempt than waits. */
  readonly retryMs: readonly number[]
  readonly concurrency: number
  readonly nodeId: string
  readonly random: () => number
}
export type Deliverer = ShardWorker & {
  /** Ends the unsettled deliveries that carry the contact's data; resolves with their number. */
  cancelFor(tenantId: string, contactId: string): Promise<number>
  stop(): Promise<void>
}

/** decisions §1: ±10 %. */
const JITTER = 0.1
/** decisions §5: both secrets sign for this long after a rotation. */
const ROTATION_OVERLAP_MS = 24 * 3_600_000
const SECRETS_MAX = 5_000
const CANCELLED_AT_ONCE = 256

type SigningSecret = { readonly secret: string; readonly since: number }

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { core, poster } = options
  const { views, clock, aggregates } = core
  const lanes = new Map<string, DeliveryLane>()
  // A stream of this node's own: with several writers each flush would meet a conflict.
  const recorder = createOutcomeRecorder(core, String(shardOf(options.nodeId)))
  const secrets = new LRUCache<string, readonly SigningSecret[]>({ max: SECRETS_MAX })
  /** Counts changes of destinations: what was read while one came is not kept. */
  let changes = 0
  /** Deliveries under way → their destination. */
  const running = new Map<Promise<unknown>, string>()
  let stopping = false

  function lane(destinationId: string): DeliveryLane {
    const known = lanes.get(destinationId)
    if (known) return known
    const created = createDeliveryLane({
      clock,
      concurrency: options.concurrency,
      next: (after, limit) => views.pendingDeliveries(destinationId, after, limit),
      retries: limit => views.dueDeliveryRetries(destinationId, now(core), limit),
      nextRetry: () => views.nextDeliveryDue(destinationId),
      viewPosition: views.position,
      onCrash: error => core.logger.warn({ err: error, destinationId }, 'a delivery failed and is tried again'),
      deliver(row, answered) {
        const work = deliver(row, answered)
        running.set(work, destinationId)
        const done = (): void => void running.delete(work)
        work.then(done, done)
        return work
      }
    })
    lanes.set(destinationId, created)
    return created
  }

  /** Newest first. */
  async function readSecrets(destinationId: string): Promise<readonly SigningSecret[]> {
    const held: SigningSecret[] = []
    for await (const recorded of core.log.read(streamOf.destination(destinationId))) {
      const event = decode<DestinationEvent>(recorded)
      const opened = event.ciphertext === null ? null : await unseal<DestinationSecrets>(core, event)
      if (opened) held.unshift({ secret: opened.secret, since: Date.parse(event.at) })
    }
    return held
  }

  /** The newest one, and the one before it during the overlap. */
  async function signingSecrets(destinationId: string): Promise<readonly string[]> {
    const seen = changes
    const held = secrets.get(destinationId) ?? (await readSecrets(destinationId))
    if (seen === changes) secrets.set(destinationId, held)
    return held
      .filter((_, index) => index === 0 || clock.now() - (held[index - 1]?.since ?? 0) < ROTATION_OVERLAP_MS)
      .slice(0, 2)
      .map(entry => entry.secret)
  }

  async function deliver(row: DeliveryRow, answered: () => void): Promise<number> {
    const destination = views.destination(row.tenantId, row.destinationId)
    const envelope = await render(core, row)
    if (!destination?.enabled) return settle(row, { state: 'dead', error: 'destination_disabled' })
    if (!envelope) return settle(row, { state: 'dead', error: 'contact_erased' })
    const body = Buffer.from(JSON.stringify(envelope))
    const signature = options.sign(body, await signingSecrets(row.destinationId), Math.floor(clock.now() / 1000))
    const answer = await poster.post({
      url: destination.url,
      lane: row.destinationId,
      body,
      headers: {
        'content-type': 'application/json',
        'x-service-signature': signature,
        'x-service-event-id': row.eventId,
        'x-service-delivery-id': row.id
      }
    })
    answered()
    if (answer.kind === 'failed')
      return retryOrBury(row, { error: answer.error, status: null, durationMs: answer.durationMs })
    const { status, durationMs } = answer
    if (status >= 200 && status < 300) return settle(row, { state: 'delivered', status, durationMs, error: null })
    const outcome = { status, durationMs, error: `http_${status}` }
    if (status !== 410) return retryOrBury(row, outcome, answer.retryAfterMs ?? 0)
    const position = await settle(row, { ...outcome, state: 'dead' })
    await disable(row)
    return position
  }

  type Attempt = { error: string | null; status?: number | null; durationMs?: number }

  function retryOrBury(row: DeliveryRow, attempt: Attempt, atLeastMs = 0): Promise<number> {
    if (row.attempts >= options.retryMs.length) return settle(row, { ...attempt, state: 'dead' })
    const wait = Math.max(atLeastMs, backoffMs(options.retryMs, row.attempts + 1, JITTER, options.random))
    return settle(row, { ...attempt, state: 'retrying', nextAttemptAt: iso(clock.now() + wait) })
  }

  function settle(
    row: DeliveryRow,
    attempt: Attempt & { state: DeliveryOutcome['state']; nextAttemptAt?: string }
  ): Promise<number> {
    return recorder.add({
      deliveryId: row.id,
      position: row.position,
      destinationId: row.destinationId,
      attempt: row.attempts + 1,
      at: now(core),
      state: attempt.state,
      error: attempt.error,
      status: attempt.status ?? null,
      durationMs: Math.round(attempt.durationMs ?? 0),
      ...(attempt.nextAttemptAt === undefined ? {} : { nextAttemptAt: attempt.nextAttemptAt })
    })
  }

  async function disable(row: DeliveryRow): Promise<void> {
    const context = ownCommand(core, row.tenantId, 'deliverer')
    const stream = streamOf.destination(row.destinationId)
    await aggregates.destinations.ask(stream, { type: 'Disable', at: now(core), reason: 'gone' }, context)
  }

  async function cancelFor(tenantId: string, contactId: string): Promise<number> {
    /** The view may list them a little longer. */
    const cancelled = new Set<string>()
    let last = 0
    for (;;) {
      const rows = views.unsettledDeliveriesOf(tenantId, contactId, CANCELLED_AT_ONCE)
      if (rows.length === 0) return cancelled.size
      const fresh = rows.filter(({ id }) => !cancelled.has(id))
      const dead = { state: 'dead', error: 'contact_erased' } as const
      last = Math.max(last, ...(await Promise.all(fresh.map(row => settle(row, dead)))))
      for (const { id } of fresh) cancelled.add(id)
      await views.caughtUp(last)
    }
  }

  views.onPage(({ touched }) => {
    for (const destinationId of touched.destination ?? []) {
      changes++
      secrets.delete(destinationId)
    }
    if (stopping) return
    for (const destinationId of touched.outbox ?? []) if (core.works(destinationId)) lane(destinationId).pump()
  })

  return {
    cancelFor,
    async open(belongs) {
      for (const destinationId of views.destinationsWithWork())
        if (core.works(destinationId) && belongs(destinationId)) lane(destinationId).pump()
    },
    async close(belongs) {
      for (const [destinationId, held] of lanes) {
        if (!belongs(destinationId)) continue
        held.stop()
        lanes.delete(destinationId)
      }
      await Promise.allSettled([...running].filter(([, destinationId]) => belongs(destinationId)).map(([work]) => work))
      await recorder.flush()
    },
    async stop() {
      stopping = true
      for (const held of lanes.values()) held.stop()
      await Promise.allSettled([...running.keys()])
      await recorder.flush()
    }
  }
}
