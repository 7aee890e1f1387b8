/**
 * The dispatcher: what waits in the queue leaves through the connectors. An outside effect is bracketed: `StartDispatch`
 * is durable before the provider is called, the outcome after (architecture, rule 4). A death in between leaves `indeterminate`.
 */
import type { OfficialConnector, SendAnswer, UnofficialConnector } from '../connectors/port.ts'
import type { Bucket } from '../coordination/port.ts'
import { type Channel, opensAt } from '../domain/channel.ts'
import { providerIdIndex } from '../log/keys/tenant-keys.ts'
import { LogUnavailable } from '../log/port.ts'
import type { QueueRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import { alarm, iso } from './clock.ts'
import { type Core, isPassing, now, ownCommand, untilRecorded } from './core.ts'
import { type DispatchPolicy, toDispatchAnswer } from './dispatch-answer.ts'
import type { DispatchGate } from './dispatch-gate.ts'
import { createLane, type Dispatched, type Lane, type Turn } from './dispatch-lane.ts'
import type { Identities } from './identities.ts'
import type { Line, Lines } from './lines.ts'
import { prepare } from './outbound.ts'
import { restrict } from './restrictions.ts'
import type { Belongs, ShardWorker } from './shard-work.ts'

export type DispatcherOptions = {
  readonly core: Core
  readonly lines: Lines
  readonly identities: Identities
  readonly gate: DispatchGate
  readonly official: OfficialConnector
  readonly unofficial: UnofficialConnector
  readonly policy: DispatchPolicy
  readonly concurrency: { readonly official: number; readonly unofficial: number }
  /** The tokens of a number, shared by all nodes. */
  readonly bucket: (channelId: string) => Bucket
  readonly providerTimeoutMs: number
  readonly random: () => number
}

/** Opening settles what the holder before left in flight. */
export type Dispatcher = ShardWorker & {
  /** Takes no new work; resolves when what is in flight is recorded. */
  stop(): Promise<void>
}

/** Due messages handled in one turn of the timer. */
const DUE_MAX = 256
/** What was just handled, or is another node's, stays listed for a moment: it is not worth a busy loop. */
const AFTER_DUE_MS = 100

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { core, lines, policy } = options
  const { aggregates, views, clock, keyring } = core
  const lanes = new Map<string, Lane>()
  /** Dispatches under way → their channel. */
  const running = new Map<Promise<unknown>, string>()
  const underWay = new Set<string>()
  let stopping = false
  const timer = alarm(clock, () => void onDue())

  const channelState = (channelId: string): Promise<Channel> => aggregates.channels.read(streamOf.channel(channelId))

  function lane(channelId: string): Lane {
    const known = lanes.get(channelId)
    if (known) return known
    const unofficial = views.channelById(channelId)?.kind === 'unofficial'
    const created = createLane({
      channelId,
      clock,
      bucket: options.bucket(channelId),
      concurrency: unofficial ? options.concurrency.unofficial : options.concurrency.official,
      next: (after, limit) => views.queuedAfter(channelId, after, limit),
      retries: limit => views.dueRetries(channelId, now(core), limit),
      nextRetry: () => views.nextRetryDue(channelId),
      opensAt: async () =>
        stopping || !core.works(channelId) ? null : opensAt(await channelState(channelId), now(core)),
      dispatch(row, turn) {
        underWay.add(row.messageId)
        return track(
          row.channelId,
          dispatch(row, turn).finally(() => underWay.delete(row.messageId))
        )
      },
      onCrash: error => core.logger.warn({ err: error, channelId }, 'a dispatch could not begin and is tried again'),
      viewPosition: views.position
    })
    lanes.set(channelId, created)
    return created
  }

  function track<T>(channelId: string, work: Promise<T>): Promise<T> {
    running.set(work, channelId)
    const done = (): void => void running.delete(work)
    work.then(done, done)
    return work
  }

  const command = (row: QueueRow) => ownCommand(core, row.tenantId, 'dispatcher')

  async function fail(row: QueueRow, code: string): Promise<Dispatched> {
    const stream = streamOf.message(row.messageId)
    const outcome = await aggregates.messages.ask(stream, { type: 'FailWaiting', at: now(core), code }, command(row))
    if (!outcome.ok && isPassing(outcome.code)) throw new LogUnavailable(`failure not recorded: ${outcome.code}`)
    return { spent: false, position: outcome.ok ? outcome.position : null }
  }

  async function dispatch(row: QueueRow, turn: Turn): Promise<Dispatched> {
    const stream = streamOf.message(row.messageId)
    const channel = await channelState(row.channelId)
    const line = await lines.of(channel)
    const prepared = await prepare(core, channel, row.messageId)
    if ('failure' in prepared) return fail(row, prepared.failure)
    const { to, content } = prepared.outbound
    const refusal = await options.gate.refusal(channel, row, to, content.kind)
    if (refusal !== null) return fail(row, refusal)
    // Loaded beforehand, so that those whose turns follow each other also reach the log in that order.
    await aggregates.messages.read(stream)
    await turn.come
    if (!core.works(row.channelId)) throw new LogUnavailable('the number is not worked here at the moment')
    const start = command(row)
    const asked = aggregates.messages.ask(
      stream,
      { type: 'StartDispatch', at: now(core), dispatchId: start.commandId },
      start
    )
    turn.pass()
    const started = await asked
    if (!started.ok && isPassing(started.code)) throw new LogUnavailable(`dispatch not started: ${started.code}`)
    const begun = started.ok && started.events[0]?.type === 'MessageDispatchStarted'
    if (!started.ok || !begun) return { spent: false, position: started.ok ? started.position : null }
    const attempt = started.state.attempts
    const answer: SendAnswer = line
      ? await send(line, prepared.outbound)
      : { kind: 'channel_trouble', code: 'credentials_rejected', detail: null }
    if (answer.kind === 'channel_trouble') await recordTrouble(channel, answer.code)
    if (answer.kind === 'refused' && answer.code === 'channel_restricted')
      await restrict(core, channel, { code: answer.providerCode ?? answer.code, until: null, source: 'dispatcher' })
    if (answer.kind === 'sent' && answer.address !== null && answer.address !== to)
      await identify(channel, row, answer.address)
    return { spent: true, position: await recordAnswer(row, attempt, answer) }
  }

  /** The platform knows the recipient in another form. Should it be lost here, the first report tells it again. */
  async function identify(channel: Channel, row: QueueRow, address: string): Promise<void> {
    try {
      const contact = await keyring.contact(row.tenantId, row.contactId)
      if (contact) await options.identities.seen(channel, contact, address)
    } catch (error) {
      core.logger.warn({ err: error, messageId: row.messageId }, 'the form of an address could not be recorded')
    }
  }

  async function send(line: Line, outbound: Parameters<OfficialConnector['send']>[1]): Promise<SendAnswer> {
    const signal = AbortSignal.timeout(options.providerTimeoutMs)
    if (line.kind === 'official') return options.official.send(line, outbound, signal)
    return options.unofficial.send(line, outbound, signal)
  }

  async function recordAnswer(row: QueueRow, attempt: number, answer: SendAnswer): Promise<number | null> {
    const keys = keyring.tenantAtHand(row.tenantId) ?? (await keyring.tenant(row.tenantId))
    const index = (providerId: string): string => providerIdIndex(keys, row.channelId, providerId)
    const recorded = toDispatchAnswer(answer, attempt, clock.now(), policy, { index, random: options.random })
    const stream = streamOf.message(row.messageId)
    // The provider has the message: what it said must reach the log, however long the log is away.
    const context = command(row)
    const outcome = await untilRecorded(core, () =>
      aggregates.messages.ask(stream, { type: 'RecordAnswer', at: now(core), attempt, answer: recorded }, context)
    )
    if (!outcome.ok) return null
    return outcome.position
  }

  async function recordTrouble(channel: Channel, code: string): Promise<void> {
    const context = ownCommand(core, channel.tenantId, 'dispatcher')
    const { secretsGeneration } = channel
    const command = { type: 'RecordTrouble', at: now(core), code, secretsGeneration } as const
    await aggregates.channels.ask(streamOf.channel(channel.id), command, context)
  }

  /** Expiries of waiting messages and timeouts of indeterminate ones. */
  async function onDue(): Promise<void> {
    if (stopping) return
    const at = now(core)
    for (const row of views.dueInQueue(at, core.workedShards(), DUE_MAX)) {
      if (!core.works(row.channelId)) continue
      const stream = streamOf.message(row.messageId)
      if (row.due === 'expiry')
        await track(
          row.channelId,
          aggregates.messages.ask(stream, { type: 'FailWaiting', at, code: 'message_expired' }, command(row))
        )
      else await track(row.channelId, aggregates.messages.ask(stream, { type: 'TimeOut', at }, command(row)))
    }
    schedule(true)
  }

  function schedule(justRung = false): void {
    const next = views.nextQueueDue()
    if (next === null) return
    const moment = Date.parse(next)
    timer.at(justRung ? Math.max(moment, clock.now() + AFTER_DUE_MS) : moment)
  }

  /** What another process has started and not settled is in doubt; what this one has under way is not. */
  async function recover(belongs: Belongs): Promise<void> {
    for (const row of views.dispatching()) {
      if (!belongs(row.channelId) || underWay.has(row.messageId)) continue
      const at = now(core)
      const timeoutAt = iso(clock.now() + policy.indeterminateTimeoutMs)
      await untilRecorded(core, () =>
        aggregates.messages.ask(
          streamOf.message(row.messageId),
          { type: 'MarkIndeterminate', at, attempt: row.attempts, timeoutAt },
          command(row)
        )
      )
    }
  }

  views.onPage(({ touched }) => {
    if (stopping) return
    for (const channelId of touched.queue ?? [])
      void (core.works(channelId) ? lane(channelId) : lanes.get(channelId))?.pump(true)
    for (const channelId of touched.channel ?? []) void lanes.get(channelId)?.pump()
    if (touched.queue) schedule()
  })

  return {
    async open(belongs) {
      await recover(belongs)
      for (const channelId of views.channelsWithWork()) if (belongs(channelId)) void lane(channelId).pump()
      schedule()
    },
    async close(belongs) {
      for (const [channelId, held] of lanes) {
        if (!belongs(channelId)) continue
        held.stop()
        lanes.delete(channelId)
      }
      await Promise.allSettled([...running].filter(([, channelId]) => belongs(channelId)).map(([work]) => work))
    },
    async stop() {
      stopping = true
      timer.clear()
      for (const held of lanes.values()) held.stop()
      await Promise.allSettled([...running.keys()])
    }
  }
}
