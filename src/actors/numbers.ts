/** Numbers: creating an official one, and what their owners ask of them. No step needs two streams at once (architecture, rule 3). */
import type { OfficialConnector, OfficialLine } from '../connectors/port.ts'
import type { ChannelCommand, ChannelCreation, ChannelSecrets } from '../domain/channel.ts'
import type { ClaimEvent } from '../domain/claim.ts'
import type { AuditRow, ChannelRow, ListPage } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import {
  type ChannelView,
  type ListedChannel,
  type ShownChannel,
  shownOf,
  toListed,
  toView,
  type ViewOptions
} from './channel-view.ts'
import {
  type Asker,
  askedBy,
  type Core,
  findEvent,
  newId,
  now,
  ok,
  ownCommand,
  type Result,
  refuse,
  seenEverything,
  unseal
} from './core.ts'
import { createNumberReleases, type NumberReleases } from './number-releases.ts'
import { refusedByPlatform } from './platform-refusal.ts'

export type OfficialInput = {
  readonly label?: string
  readonly credentials: {
    readonly phoneNumberId: string
    readonly wabaId: string
    readonly accessToken: string
    readonly platformAppId?: string
    readonly platformAppSecret?: string
  }
}

export type Numbers = NumberReleases & {
  createOfficial(asker: Asker, input: OfficialInput): Promise<Result<ChannelView>>
  list(
    asker: Asker,
    page: { limit: number; cursor: string | null; tag: string | null }
  ): Promise<ListPage<ListedChannel>>
  read(asker: Asker, channelId: string): Promise<Result<ChannelView & Pick<ListedChannel, 'tags'>>>
  rename(asker: Asker, channelId: string, label: string): Promise<Result<ChannelView>>
  disconnect(asker: Asker, channelId: string): Promise<Result<ChannelView>>
  remove(asker: Asker, channelId: string): Promise<Result<ChannelView>>
  audit(
    asker: Asker,
    channelId: string,
    page: { limit: number; before: string | null }
  ): Promise<Result<ListPage<AuditRow>>>
  /** Claims the number and makes the channel; `number_in_use` when another live channel has it. Safe to repeat. */
  claim(asker: Asker, creation: ChannelCreation, secrets: ChannelSecrets): Promise<Result<null>>
  /** Completes a creation whose claim stands: after a crash, from the claim alone. */
  finish(claimStream: string): Promise<void>
  /** Releases the claim of a deleted channel. */
  release(channelId: string): Promise<void>
}

export type NumbersOptions = {
  readonly core: Core
  readonly official: OfficialConnector
  readonly view: ViewOptions
  readonly quarantineMs: number
  /** Stops (or erases, when deleted) the session of an unofficial number; best effort, after the fact is recorded. */
  readonly endSession: (channel: ChannelRow, how: 'stop' | 'erase') => void
}

export function createNumbers(options: NumbersOptions): Numbers {
  const { core, official } = options
  const { views, aggregates } = core

  const show = (row: ShownChannel): ChannelView => toView(row, now(core), options.view)

  async function rowOf(tenantId: string, channelId: string): Promise<ChannelRow | null> {
    await core.own.settled(tenantId)
    let row = views.channel(tenantId, channelId)
    if (!row) {
      await seenEverything(core)
      row = views.channel(tenantId, channelId)
    }
    return row && row.state !== 'deleted' ? row : null
  }

  /** Applies a command to a live channel of the tenant and answers the channel as it then is. */
  async function change(asker: Asker, channelId: string, command: ChannelCommand): Promise<Result<ChannelView>> {
    if (!(await rowOf(asker.tenantId, channelId))) return refuse('channel_not_found')
    const outcome = await aggregates.channels.ask(streamOf.channel(channelId), command, askedBy(asker))
    if (!outcome.ok) return refuse(outcome.code)
    if (outcome.position !== null) core.own.configured(asker.tenantId, outcome.position)
    await core.own.settled(asker.tenantId)
    const row = views.channel(asker.tenantId, channelId)
    return row ? ok(show(row)) : refuse('channel_not_found')
  }

  async function connect(
    creation: ChannelCreation,
    secrets: ChannelSecrets,
    trace: string | null
  ): Promise<Result<null>> {
    const command = { type: 'Connect', at: now(core), creation, secrets, quarantineMs: options.quarantineMs } as const
    const context = ownCommand(core, creation.tenantId, 'api', { trace })
    const outcome = await aggregates.channels.ask(streamOf.channel(creation.channelId), command, context, {
      fresh: true
    })
    if (!outcome.ok) return refuse(outcome.code)
    if (outcome.position !== null) core.own.configured(creation.tenantId, outcome.position)
    return ok(null)
  }

  async function claim(asker: Asker, creation: ChannelCreation, secrets: ChannelSecrets): Promise<Result<null>> {
    const stream = streamOf.number(creation.number ?? creation.phoneNumberId ?? creation.channelId)
    const context = ownCommand(core, creation.tenantId, 'api', { trace: asker.trace })
    const claimed = await aggregates.claims.ask(
      stream,
      { type: 'ClaimNumber', at: now(core), creation, secrets },
      context
    )
    return claimed.ok ? connect(creation, secrets, asker.trace) : refuse(claimed.code)
  }

  return {
    claim,
    ...createNumberReleases({ core, official, rowOf, change }),
    async createOfficial(asker, input) {
      const { phoneNumberId, wabaId, accessToken, platformAppId, platformAppSecret } = input.credentials
      const line: OfficialLine = { kind: 'official', phoneNumberId, wabaId, accessToken }
      const verified = await official.verify(line)
      if (verified.kind !== 'ok') return refusedByPlatform(verified)
      const subscribed = await official.subscribe(line)
      if (subscribed.kind !== 'ok') return refusedByPlatform(subscribed)
      const creation: ChannelCreation = {
        channelId: newId('ch', core),
        tenantId: asker.tenantId,
        kind: 'official',
        label: input.label ?? null,
        number: verified.value.number,
        phoneNumberId,
        wabaId,
        source: 'register',
        ...(platformAppId === undefined ? {} : { platformAppId })
      }
      const secrets = { accessToken, ...(platformAppSecret === undefined ? {} : { platformAppSecret }) }
      const made = await claim(asker, creation, secrets)
      if (!made.ok) return refuse(made.code === 'number_in_use' ? 'waba_number_unavailable' : made.code)
      await core.own.settled(asker.tenantId)
      // It is connected, seen by the views or not: who is told to come again finds the number taken, by itself.
      const seen = views.channel(asker.tenantId, creation.channelId)
      return ok(show(seen ?? shownOf(await aggregates.channels.read(streamOf.channel(creation.channelId)))))
    },
    async list(asker, { limit, cursor }) {
      await core.own.settled(asker.tenantId)
      const page = views.channels(asker.tenantId, limit, cursor)
      return { items: page.items.map(row => toListed(row, now(core), options.view)), nextCursor: page.nextCursor }
    },
    async read(asker, channelId) {
      const row = await rowOf(asker.tenantId, channelId)
      return row ? ok({ ...show(row), tags: [] }) : refuse('channel_not_found')
    },
    rename: (asker, channelId, label) => change(asker, channelId, { type: 'Rename', at: now(core), label }),
    async disconnect(asker, channelId) {
      const changed = await change(asker, channelId, { type: 'Disconnect', at: now(core), source: 'disconnect' })
      const row = changed.ok ? views.channel(asker.tenantId, channelId) : null
      if (row?.kind === 'unofficial') options.endSession(row, 'stop')
      return changed
    },
    async remove(asker, channelId) {
      const changed = await change(asker, channelId, { type: 'Delete', at: now(core), source: 'admin' })
      if (!changed.ok) return changed
      // DELETE answers after the claim is released, so that the number can be connected again at once.
      await release(channelId)
      const row = views.channel(asker.tenantId, channelId)
      if (row?.kind === 'unofficial') options.endSession(row, 'erase')
      return changed
    },
    async audit(asker, channelId, { limit, before }) {
      if (!(await rowOf(asker.tenantId, channelId))) return refuse('channel_not_found')
      return ok(views.audit(channelId, limit, before))
    },
    async finish(claimStream) {
      const state = await aggregates.claims.read(claimStream)
      type Claimed = Extract<ClaimEvent, { type: 'NumberClaimed' }>
      const claimed = await findEvent<Claimed>(
        core,
        claimStream,
        event => event.type === 'NumberClaimed' && event.data.creation.channelId === state.holder
      )
      if (!claimed) return
      await connect(claimed.data.creation, (await unseal<ChannelSecrets>(core, claimed)) ?? {}, claimed.meta.trace)
    },
    release
  }

  async function release(channelId: string): Promise<void> {
    const channel = await aggregates.channels.read(streamOf.channel(channelId))
    const context = ownCommand(core, channel.tenantId, 'system')
    const stream = streamOf.number(channel.number ?? channel.phoneNumberId ?? channelId)
    await aggregates.claims.ask(stream, { type: 'ReleaseNumber', at: now(core), channelId }, context)
  }
}
