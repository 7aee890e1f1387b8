import type { JsonObject } from './json.ts'
import type { Accepted } from './ledger.ts'
import type { State } from './state.ts'

/** One status of one message, turned into JSON only when it is posted. */
export type StatusUpdate = {
  send: Accepted
  status: string
  timestamp: number
  errors?: JsonObject[]
  /** Extra members that no reader knows. */
  unknown?: boolean
}

const DAY_SECONDS = 86_400

function statusItem({ send, status, timestamp, errors, unknown }: StatusUpdate): JsonObject {
  const item: JsonObject = { id: send.wamid, status, timestamp: String(timestamp), recipient_id: send.waId }
  if (send.userId !== undefined) item.recipient_user_id = send.userId
  if (send.callbackData !== undefined) item.biz_opaque_callback_data = send.callbackData
  if (status === 'sent') {
    item.conversation = {
      id: send.wamid.slice(-13, -1),
      expiration_timestamp: String(timestamp + DAY_SECONDS),
      origin: { type: send.category }
    }
  }
  if (status === 'sent' || status === 'delivered') {
    item.pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category: send.category }
  }
  if (errors) item.errors = errors
  if (unknown) {
    item.delivery_hint = { tier: 7, tags: ['new'] }
    item.schema_revision = 99
  }
  return item
}

/** One envelope for statuses of any numbers: an entry per account, a change per number. */
export function statusEnvelope(state: State, updates: readonly StatusUpdate[]): JsonObject {
  const values = new Map<string, { wabaId: string; digits: string; statuses: JsonObject[]; unknown: boolean }>()
  for (const update of updates) {
    const numberId = update.send.numberId
    let value = values.get(numberId)
    if (!value) {
      const number = state.numbers.get(numberId)
      value = { wabaId: number?.wabaId ?? '0', digits: number?.digits ?? '', statuses: [], unknown: false }
      values.set(numberId, value)
    }
    value.statuses.push(statusItem(update))
    value.unknown ||= update.unknown === true
  }
  const entries = new Map<string, JsonObject[]>()
  for (const [numberId, { wabaId, digits, statuses, unknown }] of values) {
    const changes = entries.get(wabaId) ?? []
    const value: JsonObject = {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: digits, phone_number_id: numberId },
      statuses
    }
    changes.push(unknown ? { value: { ...value, added_later: [1] }, field: 'messages' } : { value, field: 'messages' })
    entries.set(wabaId, changes)
  }
  return { object: 'whatsapp_business_account', entry: [...entries].map(([id, changes]) => ({ id, changes })) }
}

/** Where webhooks of a number go: its own override, its account's, or the app's callback. Null: nowhere. */
export function callbackOf(state: State, numberId: string): string | null {
  const number = state.numbers.get(numberId)
  const waba = number && state.wabas.get(number.wabaId)
  if (!waba) return state.callbackUrl
  if (!hears(state, waba.id)) return null
  return number.overrideUrl ?? waba.overrideUrl ?? state.callbackUrl
}

/** Whether the app gets webhooks of this account at all. */
export function hears(state: State, wabaId: string): boolean {
  const subscription = state.wabas.get(wabaId)?.subscription ?? 'on'
  return subscription === 'on' || (subscription === 'never' && !state.settings.requireSubscription)
}
