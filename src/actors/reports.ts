/**
 * The provider's reports find their messages: by our id in the callback data, by the provider's id, or, when that id is
 * not known yet, held durably until it is (held-reports.ts).
 */
import type { Update } from '../connectors/port.ts'
import { isId } from '../domain/ids.ts'
import type { Report } from '../domain/message.ts'
import type { ProviderSecrets, Queued, QueuedSecrets } from '../domain/message-events.ts'
import type { ReportHeld } from '../domain/record.ts'
import { providerIdIndex } from '../log/keys/tenant-keys.ts'
import type { ChannelRow, QueueRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import { iso } from './clock.ts'
import { type Core, findEvent, now, seenEverything, unseal } from './core.ts'
import { HELD_MAX, HELD_MAX_AGE_MS } from './held-reports.ts'
import type { Identities } from './identities.ts'
import { appendToInbox, recordReport } from './report-records.ts'

export type StatusUpdate = Extract<Update, { kind: 'status' }>
export type EchoUpdate = Extract<Update, { kind: 'echo' }>

export type Reports = {
  /** Durable when it resolves, or of no use. Throws LogUnavailable when the log cannot take it. */
  status(channels: readonly ChannelRow[], update: StatusUpdate, trace: string): Promise<void>
  /** An echo of a message that left the number: settles a send whose answer was lost. */
  echo(channel: ChannelRow, update: EchoUpdate, trace: string): Promise<void>
}

/** Messages in doubt that an echo is compared with. */
const ECHO_CANDIDATES_MAX = 64

export function createReports(core: Core, identities: Identities): Reports {
  const { views, keyring, clock } = core

  const indexOf = async (channel: ChannelRow, providerId: string): Promise<string> =>
    providerIdIndex(await keyring.tenant(channel.tenantId), channel.id, providerId)

  const toReport = (update: StatusUpdate, index: string): Report => {
    const address = update.address === null ? {} : { address: update.address }
    const { status, code, reactionCode, providerCode, providerAt } = update
    const secrets: ProviderSecrets = { providerId: update.providerId, ...address }
    return { status, code, reactionCode, providerCode, providerAt, providerIdIndex: index, secrets }
  }

  /** The platform names the recipient in its own form, or in both that it knows. */
  async function identify(channel: ChannelRow, contactId: string | null, update: StatusUpdate): Promise<void> {
    const named = [update.address, update.alias].filter(address => address !== null)
    const contact = contactId && named.length > 0 ? await keyring.contact(channel.tenantId, contactId) : null
    if (contact) for (const address of named) await identities.seen(channel, contact, address)
  }

  /** `inDoubt`: the report may be about a send whose answer has not come. */
  async function sought(channel: ChannelRow, index: string): Promise<{ messageId: string | null; inDoubt: boolean }> {
    const known = views.messageByProviderId(channel.id, index)
    if (known !== null) return { messageId: known, inDoubt: false }
    // The answer of the send may be in the log and not in the view yet; so may the send that makes the report worth holding.
    await seenEverything(core)
    // In this order: an answer that comes between the two questions must be seen by the second.
    const inDoubt = views.hasInDoubt(channel.id)
    return { messageId: views.messageByProviderId(channel.id, index), inDoubt }
  }

  async function status(channels: readonly ChannelRow[], update: StatusUpdate, trace: string): Promise<void> {
    // Another program on the same number may put data of its own there that only looks like ours.
    const named = update.messageId !== null && isId('msg', update.messageId) ? update.messageId : null
    for (const channel of channels) {
      const index = await indexOf(channel, update.providerId)
      const report = toReport(update, index)
      const told = named === null ? null : await recordReport(core, channel, named, report, trace)
      if (told) return identify(channel, told.contactId, update)
      const { messageId, inDoubt } = await sought(channel, index)
      const found = messageId === null ? null : await recordReport(core, channel, messageId, report, trace)
      if (found) return identify(channel, found.contactId, update)
      if (named === null && inDoubt) return hold(channel, index, update, trace)
    }
  }

  async function hold(channel: ChannelRow, index: string, update: StatusUpdate, trace: string): Promise<void> {
    if (views.heldSince(channel.id, iso(clock.now() - HELD_MAX_AGE_MS)) >= HELD_MAX) return
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
    await appendToInbox(core, channel, event, trace)
  }

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
      if (!update.api) return
      const index = await indexOf(channel, update.providerId)
      const known = await sought(channel, index)
      if (known.messageId !== null || !known.inDoubt) return
      const messageId = await echoed(channel, update)
      if (messageId === null) return
      const { providerId, address, providerAt } = update
      const proof = { status: 'sent', code: null, reactionCode: null, providerCode: null, providerAt } as const
      const secrets: ProviderSecrets = { providerId, address }
      await recordReport(core, channel, messageId, { ...proof, providerIdIndex: index, secrets }, trace)
    }
  }
}
