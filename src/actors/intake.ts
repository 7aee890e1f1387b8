/** Callbacks of both platforms: verified, read, and durable before they are answered (architecture, rule 5). */
import { createHmac } from 'node:crypto'
import type { OfficialCallbacks, UnofficialCallbacks, Update } from '../connectors/port.ts'
import { isId } from '../domain/ids.ts'
import type { ChannelRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import { callbackOwners } from './callback-owners.ts'
import { type Core, isUnavailable, seenEverything } from './core.ts'
import type { HiddenIds } from './hidden-ids.ts'
import type { Identities } from './identities.ts'
import { type InboundUpdate, receive } from './inbound.ts'
import type { Lines } from './lines.ts'
import type { Media } from './media-service.ts'
import type { OptOuts } from './opt-outs.ts'
import type { Reports } from './reports.ts'
import { restrict } from './restrictions.ts'
import type { SessionNews } from './sessions.ts'
import type { Templates } from './templates.ts'

export type IntakeOptions = {
  readonly core: Core
  readonly officialCallbacks: OfficialCallbacks
  readonly unofficialCallbacks: UnofficialCallbacks
  readonly lines: Lines
  readonly identities: Identities
  readonly hiddenIds: HiddenIds
  readonly reports: Reports
  readonly sessions: SessionNews
  readonly optOuts: OptOuts
  readonly templates: Pick<Templates, 'heard'>
  readonly media: Pick<Media, 'received'>
  /** Of the default platform app; empty when it has none. */
  readonly appSecret: string | null
  readonly verifyToken: string | null
  /** Root of the keys that unofficial sessions sign with. */
  readonly callbackRoot: Buffer
}
export type Intake = {
  knowsVerifyToken(token: string): boolean
  official(body: Buffer, signature: string | undefined, trace: string): Promise<{ status: 200 | 400 | 403 | 503 }>
  unofficial(
    reference: string,
    body: Buffer,
    headers: { hmac: string | undefined; algorithm: string | undefined },
    trace: string
  ): Promise<{ status: 200 | 400 | 403 | 404 | 503 }>
}

/** Key of one session's callbacks: a tenant's own instance can forge nothing for others (decisions §1). */
export const callbackKey = (root: Buffer, reference: string): string =>
  createHmac('sha256', root).update(reference).digest('hex')

/** Clocks differ, and a message may come while the number is being connected. */
const HISTORY_SLACK_MS = 30_000
/** Updates of one body worked at once. */
const UPDATES_AT_ONCE = 64

export function createIntake(options: IntakeOptions): Intake {
  const { core, reports, sessions, optOuts, templates, media, officialCallbacks, unofficialCallbacks } = options
  const { views, aggregates } = core

  async function one(channels: readonly ChannelRow[], update: Update, trace: string): Promise<void> {
    const [live] = channels
    if (!live) return
    switch (update.kind) {
      case 'status':
        await reports.status(channels, update, trace)
        // A failure for this reason tells of the flag too, whether or not its end is told with it.
        if (update.restriction || update.code === 'channel_restricted') {
          const until = update.restriction?.until ?? null
          await restrict(core, live, {
            code: update.providerCode ?? 'channel_restricted',
            until,
            source: 'callback',
            trace
          })
        }
        return
      case 'echo':
        return reports.echo(live, update, trace)
      case 'inbound':
        return live.state === 'deleted' ? undefined : inbound(live, update, trace)
      case 'restriction':
        return restrict(core, live, { code: update.code, until: update.until, source: 'callback', trace })
      case 'opt_out':
        return optOuts.set(
          live.tenantId,
          [update.address],
          { out: update.optedOut, by: 'platform', toldAt: update.providerAt },
          trace
        )
      case 'template':
        return templates.heard(live, update, trace)
      case 'session':
      case 'ignored':
        return
    }
  }

  async function channelRow(channelId: string): Promise<ChannelRow | null> {
    const row = views.channelById(channelId)
    if (row) return row
    await seenEverything(core)
    return views.channelById(channelId)
  }

  async function inbound(channel: ChannelRow, told: InboundUpdate, trace: string): Promise<void> {
    if (await isHistory(channel, told)) return
    const update = await options.hiddenIds.revealed(channel, told)
    const received = await receive(core, options.identities, channel, update, trace)
    if (received) media.received(received)
    const wish = wishIn(update)
    if (wish) await optOuts.set(channel.tenantId, addressesOf(update), { ...wish, toldAt: update.providerAt }, trace)
  }

  /** What a session syncs at its first login happened before the number was ours: it is not news. */
  async function isHistory(channel: ChannelRow, update: InboundUpdate): Promise<boolean> {
    if (channel.kind !== 'unofficial' || update.providerAt === null) return false
    const { connectedAt } = await aggregates.channels.read(streamOf.channel(channel.id))
    return connectedAt !== null && Date.parse(update.providerAt) < Date.parse(connectedAt) - HISTORY_SLACK_MS
  }

  const wishIn = ({ message }: InboundUpdate) => (message.kind === 'text' ? optOuts.wishOf(message.text) : null)

  /** What an update shares with those that it may not overtake: its message, and the person whose wish it is. */
  function orderOf(update: Update): readonly string[] {
    if (update.kind === 'opt_out') return [update.address]
    if (update.kind === 'inbound' && wishIn(update)) return [update.providerId, ...addressesOf(update)]
    return ['providerId' in update ? update.providerId : '']
  }

  /** Updates of one message keep their order, and so do the wishes of one person; all others go side by side. */
  async function all(
    work: readonly { channels: readonly ChannelRow[]; update: Update }[],
    trace: string
  ): Promise<void> {
    const tails = new Map<string, Promise<void>>()
    let started = 0
    for (const { channels, update } of work) {
      const names = orderOf(update)
      const tail = Promise.all(names.map(name => tails.get(name))).then(() => one(channels, update, trace))
      for (const name of names) tails.set(name, tail)
      if (++started % UPDATES_AT_ONCE === 0) await Promise.all(tails.values())
    }
    await Promise.all(tails.values())
  }

  async function durable<S extends number>(work: Promise<unknown>): Promise<{ status: 200 | 503 } | { status: S }> {
    try {
      await work
      return { status: 200 }
    } catch (error) {
      if (isUnavailable(error)) return { status: 503 }
      throw error
    }
  }

  return {
    knowsVerifyToken: token => options.verifyToken !== null && token === options.verifyToken,

    async official(body, signature, trace) {
      if (signature === undefined) return { status: 403 }
      const parsed = parseJson(body)
      const owners = callbackOwners(options, body, signature)
      if (parsed === undefined) return { status: owners.isOurs ? 400 : 403 }
      const work: { channels: readonly ChannelRow[]; update: Update }[] = []
      let trusted = 0
      for (const part of officialCallbacks.parse(parsed)) {
        const channels = await owners.of(part)
        if (channels.length === 0) continue
        trusted++
        for (const update of part.updates)
          for (const group of concerned(channels, part.phoneNumberId, update)) work.push({ channels: group, update })
      }
      if (trusted === 0) return { status: 403 }
      return durable(all(work, trace))
    },

    async unofficial(reference, body, headers, trace) {
      const key = callbackKey(options.callbackRoot, reference)
      if (!unofficialCallbacks.verify(key, body, headers.hmac, headers.algorithm)) return { status: 403 }
      const parsed = parseJson(body)
      if (parsed === undefined) return { status: 400 }
      const { updates } = unofficialCallbacks.parse(parsed)
      for (const update of updates) if (update.kind === 'session') await sessions.heard(reference, update)
      const news = updates.filter(update => update.kind !== 'session' && update.kind !== 'ignored')
      if (news.length === 0) return { status: 200 }
      const standsFor = isId('ch', reference) ? { channelId: reference } : await sessions.standsFor(reference)
      // The number is about to become a channel: the instance tells it again.
      if (standsFor === 'pairing') return { status: 503 }
      const channel = standsFor && (await channelRow(standsFor.channelId))
      if (!channel) return { status: 200 }
      return durable(
        all(
          updates.map(update => ({ channels: [channel], update })),
          trace
        )
      )
    }
  }
}

const addressesOf = ({ from, alias }: InboundUpdate): readonly string[] => (alias === null ? [from] : [from, alias])

/** A restriction concerns each number of the account; a template belongs to the account, and one number tells of it; all else is one number's. */
function concerned(
  channels: readonly ChannelRow[],
  phoneNumberId: string | null,
  update: Update
): readonly (readonly ChannelRow[])[] {
  if (phoneNumberId !== null) return [channels]
  if (update.kind !== 'template') return channels.map(channel => [channel])
  const perTenant = new Map(channels.toReversed().map(channel => [channel.tenantId, channel]))
  return [...perTenant.values()].map(channel => [channel])
}

/** Undefined when it is not JSON: no JSON text means that. */
function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
