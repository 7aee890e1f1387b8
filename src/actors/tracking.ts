/** Tracking: what is known of one message, without its content (channel-service, Message). */
import { isId } from '../domain/ids.ts'
import type { Queued, QueuedSecrets } from '../domain/message-events.ts'
import type { TrackingRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import { type Asker, type Core, findEvent, ok, type Result, refuse, seenEverything, unseal } from './core.ts'

export type TrackingView = Omit<TrackingRow, 'tenantId' | 'contactId'> & { readonly toAddress: string }
export type Tracking = { track(asker: Asker, messageId: string): Promise<Result<TrackingView>> }

/** What stands in place of an address that was erased. */
const ERASED = '***'

export function createTracking(core: Core): Tracking {
  return {
    async track(asker, messageId) {
      if (!isId('msg', messageId)) return refuse('resource_not_found')
      const row = await find(core, asker.tenantId, messageId)
      if (!row) return refuse('resource_not_found')
      const { tenantId: _tenant, contactId: _contact, events, ...view } = row
      return ok({ ...view, toAddress: await shownAddress(core, row), events })
    }
  }
}

/** Null: there is no such message. */
async function find(core: Core, tenantId: string, messageId: string): Promise<TrackingRow | null> {
  await core.own.settled(tenantId)
  const row = core.views.tracking(tenantId, messageId)
  if (row) return row
  // It may be in the log and not in the view: another node's, or ours while the view is behind.
  await seenEverything(core)
  return core.views.tracking(tenantId, messageId)
}

/** Where the message was sent, masked. Of somebody with several addresses, only the message itself knows to which. */
export async function shownAddress(
  core: Core,
  { id, tenantId, contactId }: Pick<TrackingRow, 'id' | 'tenantId' | 'contactId'>
): Promise<string> {
  const contact = await core.keyring.contact(tenantId, contactId)
  if (!contact) return ERASED
  if (core.views.identities(contactId).streams.length <= 1) return maskAddress(contact.address)
  const queued = await findEvent<Queued>(core, streamOf.message(id), event => event.type === 'MessageQueued')
  const secrets = queued && (await unseal<QueuedSecrets>(core, queued))
  return secrets ? maskAddress(secrets.to) : ERASED
}

/** Country codes of one and two digits; all others have three (ITU-T E.164 assignments). */
const ONE_DIGIT = /^[17]/
const TWO_DIGITS = /^(2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/

/** Country code and the first two digits kept, the last four kept, the rest `*` (decisions §3). */
export function maskAddress(address: string): string {
  const country = ONE_DIGIT.test(address) ? 1 : TWO_DIGITS.test(address) ? 2 : 3
  const head = country + 2
  const hidden = address.length - head - 4
  if (hidden <= 0) return `${address.slice(0, 2)}${'*'.repeat(Math.max(0, address.length - 2))}`
  return `${address.slice(0, head)}${'*'.repeat(hidden)}${address.slice(-4)}`
}
