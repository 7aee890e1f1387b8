/**
 * The provider's reports find their messages: by our id in the callback data, by the provider's id, or, when that id is
 * not known yet, held durably until the send's own answer tells it (architecture, rule 5). Either order settles.
 */
import type { Update } from '../connectors/port.ts'
import { isId } from '../domain/ids.ts'
import type { Report } from '../domain/message.ts'
import type { ProviderSecrets, Queued, QueuedSecrets } from '../domain/message-events.ts'
import type { ReportHeld, ReportSettled } from '../domain/record.ts'
import { providerIdIndex } from '../log/keys/tenant-keys.ts'
import { LogUnavailable, NO_STREAM } from '../log/port.ts'
import type { ChannelRow, HeldReport, QueueRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import { type Core, findEvent, isPassing, now, ownCommand, record, seenEverything, unseal } from './core.ts'
import type { Identities } from './identities.ts'

export type StatusUpdate = Extract<Update, { kind: 'status' }>
export type EchoUpdate = Extract<Update, { kind: 'echo' }>

export type Reports = {
  /** Durable when it resolves, or of no use. Throws LogUnavailable when the log cannot take it. */
  status(channels: readonly ChannelRow[], update: StatusUpdate, trace: string): Promise<void>
  /** An echo of a message that left the number: settles a send whose answer was lost. */
  echo(channel: ChannelRow, update: EchoUpdate, trace: string): Promise<void>
  /** A send's answer told the provider's id: reports held for it apply now. */
  accepted(channelId: string, messageId: string, index: string, position: number): Promise<void>
  /** Pairs what an earlier process held and did not settle. */
  recover(): Promise<void>
}

/** Live held reports per channel; more are dropped, for the provider repeats and the supervisor polls. */
const HELD_MAX = 1_000
const HELD_MAX_AGE_MS = 24 * 3_600_000
/** Messages in doubt that an echo is compared with. */
const ECHO_CANDIDATES_MAX = 64

export function createReports(core: Core, identities: Identities): Reports {
  const { views, aggregates, keyring } = core

  const indexOf = async (channel: ChannelRow, providerId: string): Promise<string> =>
    providerIdIndex(await keyring.tenant(channel.tenantId), channel.id, providerId)

  /** Whose message it was told of; null when there is no such message, or it is another number's. */
  async function apply(
    channel: ChannelRow,
    messageId: string,
    report: Report,
    trace: string | null
  ): Promise<{ contactId: string | null } | null> {
    const context = ownCommand(core, channel.tenantId, 'callback', { trace })
    const command = { type: 'RecordReport', at: now(core), channelId: channel.id, report } as const
    const outcome = await aggregates.messages.ask(streamOf.message(messageId), command, context)
    if (!outcome.ok && isPassing(outcome.code)) throw new LogUnavailable(`report not recorded: ${outcome.code}`)
    if (outcome.ok) return { contactId: outcome.state.contactId }
    return outcome.code === 'resource_not_found' ? null : { contactId: null }
  }

  /** The platform names the recipient in its own form, or in both that it knows. */
  async function identify(channel: ChannelRow, contactId: string | null, update: StatusUpdate): Promise<void> {
    const named = [update.address, update.alias].filter(address => address !== null)
    const contact = contactId && named.length > 0 ? await keyring.contact(channel.tenantId, contactId) : null
    if (contact) for (const address of named) await identities.seen(channel, contact, address)
  }

  const toReport = (update: StatusUpdate, index: string): Report => {
    const address = update.address === null ? {} : { address: update.address }
    const { status, code, reactionCode, providerCode, providerAt } = update
    const secrets: ProviderSecrets = { providerId: update.providerId, ...address }
    return { status, code, reactionCode, providerCode, providerAt, providerIdIndex: index, secrets }
  }

  async function messageOf(channel: ChannelRow, index: string): Promise<string | null> {
    const known = views.messageByProviderId(channel.id, index)
    if (known !== null) return known
    // The answer of the send may be in the log and not in the view yet; so may the send that makes the report worth holding.
    await seenEverything(core)
    return views.messageByProviderId(channel.id, index)
  }

  async function status(channels: readonly ChannelRow[], update: StatusUpdate, trace: string): Promise<void> {
    // Another program on the same number may put data of its own there that only looks like ours.
    const named = update.messageId !== null && isId('msg', update.messageId) ? update.messageId : null
    for (const channel of channels) {
      const index = await indexOf(channel, update.providerId)
      const report = toReport(update, index)
      const told = named === null ? null : await apply(channel, named, report, trace)
      if (told) return identify(channel, told.contactId, update)
      const messageId = await messageOf(channel, index)
      const found = messageId === null ? null : await apply(channel, messageId, report, trace)
      if (found) return identify(channel, found.contactId, update)
      if (named === null && views.hasInDoubt(channel.id)) return hold(channel, index, update, trace)
    }
  }

  async function hold(channel: ChannelRow, index: string, update: StatusUpdate, trace: string): Promise<void> {
    if (views.heldReports(channel.id, index).length >= HELD_MAX) return
    const { status, code, providerCode, providerAt } = update
    const event: ReportHeld = {
      type: 'ReportHeld',
      at: now(core),
      ...(providerAt === null ? {} : { providerAt }),
      data: {
        channelId: channel.id,
        providerIdIndex: index,
        status,
        ...(code === null ? {} : { code }),
        ...(providerCode === null ? {} : { providerCode })
      }
    }
    const position = await appendToInbox(channel, event, trace)
    await views.caughtUp(position)
    const messageId = views.messageByProviderId(channel.id, index)
    if (messageId !== null) await settle(channel, messageId, index)
  }

  /** The inbox has many writers and no state to decide on: a conflict only says where its end is. */
  async function appendToInbox(
    channel: ChannelRow,
    event: ReportHeld | ReportSettled,
    trace: string | null
  ): Promise<number> {
    const stream = streamOf.inbox(channel.id)
    const context = ownCommand(core, channel.tenantId, 'callback', { trace })
    let expected = NO_STREAM
    for (;;) {
      const result = await record(core, stream, expected, [event], context)
      if (result.kind === 'appended') return result.position
      if (result.kind !== 'conflict') throw new LogUnavailable(`report not held: ${result.kind}`)
      expected = result.revision
    }
  }

  async function settle(channel: ChannelRow, messageId: string, index: string): Promise<void> {
    for (const held of views.heldReports(channel.id, index)) {
      if (core.clock.now() - Date.parse(held.at) < HELD_MAX_AGE_MS)
        await apply(channel, messageId, fromHeld(held), null)
      const done: ReportSettled = { type: 'ReportSettled', at: now(core), data: { heldId: held.id } }
      await appendToInbox(channel, done, null)
    }
  }

  const fromHeld = (held: HeldReport): Report => ({
    status: held.status,
    code: held.code ?? null,
    // Only unofficial numbers hold reports, and they send no reactions.
    reactionCode: null,
    providerCode: held.providerCode ?? null,
    providerAt: held.providerAt,
    providerIdIndex: held.providerIdIndex,
    secrets: null
  })

  /** The oldest message in doubt to this person with this text, whose provider id nobody knows. */
  async function echoed(channel: ChannelRow, update: EchoUpdate): Promise<string | null> {
    const contact = await keyring.findContact(channel.tenantId, update.address)
    const inDoubt = (state: QueueRow['state']) => views.queued(channel.id, state, ECHO_CANDIDATES_MAX)
    for (const row of [...inDoubt('indeterminate'), ...inDoubt('dispatching')]) {
      const queued = await findEvent<Queued>(
        core,
        streamOf.message(row.messageId),
        event => event.type === 'MessageQueued'
      )
      const secrets = queued && (await unseal<QueuedSecrets>(core, queued))
      const content = secrets?.content as { kind?: string; text?: string } | undefined
      const samePerson = secrets?.to === update.address || row.contactId === contact?.id
      if (samePerson && content?.kind === 'text' && content.text === update.text) return row.messageId
    }
    return null
  }

  return {
    status,
    async echo(channel, update, trace) {
      if (!update.api || !views.hasInDoubt(channel.id)) return
      const index = await indexOf(channel, update.providerId)
      if ((await messageOf(channel, index)) !== null) return
      const messageId = await echoed(channel, update)
      if (messageId === null) return
      const { providerId, address, providerAt } = update
      const proof = { status: 'sent', code: null, reactionCode: null, providerCode: null, providerAt } as const
      const secrets: ProviderSecrets = { providerId, address }
      await apply(channel, messageId, { ...proof, providerIdIndex: index, secrets }, trace)
    },
    async accepted(channelId, messageId, index, position) {
      const channel = views.channelById(channelId)
      if (channel?.kind !== 'unofficial') return
      await views.caughtUp(position)
      await settle(channel, messageId, index)
    },
    async recover() {
      for (const held of views.unsettledReports(HELD_MAX)) {
        const channel = views.channelById(held.channelId)
        const messageId = channel && views.messageByProviderId(channel.id, held.providerIdIndex)
        if (channel && messageId) await settle(channel, messageId, held.providerIdIndex)
      }
    }
  }
}
