import { postAccount, templateCategoryValue, templateQualityValue, templateStatusValue } from './account-webhooks.ts'
import { isObject, type JsonObject, numberOf, scalarOf, textOf } from './json.ts'
import type { Sim } from './sim.ts'
import type { PhoneNumber, Template, Waba } from './state.ts'

/** What is posted: the id on the entry, the field and the value. A text says why nothing can be posted. */
type Event = { entryId: string; field: string; value: JsonObject } | string
type Maker = (sim: Sim, body: JsonObject) => Event

const STATUS_OF_EVENT: Record<string, string> = {
  REINSTATED: 'APPROVED',
  UNARCHIVED: 'APPROVED',
  LOCKED: 'DISABLED',
  FLAGGED: 'APPROVED'
}

const wabaOf = ({ state }: Sim, body: JsonObject): Waba | undefined =>
  state.wabas.get(scalarOf(body.wabaId) ?? state.numbers.get(scalarOf(body.phoneNumberId) ?? '')?.wabaId ?? '')

const numberOfEvent = ({ state }: Sim, body: JsonObject): PhoneNumber | undefined =>
  state.numbers.get(scalarOf(body.phoneNumberId) ?? '')

const templateOf = ({ state }: Sim, body: JsonObject): Template | undefined =>
  state.templates.get(scalarOf(body.templateId) ?? '') ??
  [...state.templates.values()].find(
    ({ name, language }) => name === body.name && (body.language === undefined || body.language === language)
  )

/** A change of an account, made from the body of the control call. */
const accountEvent =
  (make: (waba: Waba, body: JsonObject, sim: Sim) => JsonObject): Maker =>
  (sim, body) => {
    const waba = wabaOf(sim, body)
    return waba ? { entryId: waba.id, field: 'account_update', value: make(waba, body, sim) } : 'wabaId is unknown'
  }

const partner =
  (event: string): Maker =>
  (sim, body) => {
    const waba = wabaOf(sim, body)
    if (!waba) return 'wabaId is unknown'
    const info: JsonObject = { waba_id: waba.id, owner_business_id: waba.businessId }
    if (event === 'PARTNER_APP_UNINSTALLED') info.partner_app_id = sim.state.appId
    // The entry carries the partner's business, not the account.
    return {
      entryId: scalarOf(body.businessId) ?? waba.businessId,
      field: 'account_update',
      value: { event, waba_info: info }
    }
  }

const templateEvent =
  (field: string, make: (template: Template, body: JsonObject) => JsonObject): Maker =>
  (sim, body) => {
    const template = templateOf(sim, body)
    return template ? { entryId: template.wabaId, field, value: make(template, body) } : 'the template is unknown'
  }

const numberEvent =
  (field: string, make: (number: PhoneNumber, body: JsonObject, sim: Sim) => JsonObject): Maker =>
  (sim, body) => {
    const number = numberOfEvent(sim, body)
    return number ? { entryId: number.wabaId, field, value: make(number, body, sim) } : 'phoneNumberId is unknown'
  }

function templateStatus(template: Template, body: JsonObject): JsonObject {
  const event = textOf(body.event) ?? 'APPROVED'
  template.status = STATUS_OF_EVENT[event] ?? event
  if (event === 'REJECTED') template.rejectedReason = textOf(body.reason) ?? 'INVALID_FORMAT'
  const extra = isObject(body.extra) ? body.extra : {}
  return {
    ...templateStatusValue(template, event, body.reason === null ? null : (textOf(body.reason) ?? 'NONE')),
    ...extra
  }
}

function preferences(number: PhoneNumber, body: JsonObject, sim: Sim): JsonObject {
  const waId = scalarOf(body.waId) ?? '5511900000001'
  const value = textOf(body.value) ?? 'stop'
  if (value === 'stop') sim.state.optedOut.add(`${number.id} ${waId}`)
  else sim.state.optedOut.delete(`${number.id} ${waId}`)
  return {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: number.digits, phone_number_id: number.id },
    contacts: [{ profile: { name: 'Ana' }, wa_id: waId }],
    user_preferences: [
      {
        wa_id: waId,
        detail: `User requested to ${value} marketing messages`,
        category: 'marketing_messages',
        value,
        timestamp: Math.floor(sim.now() / 1000)
      }
    ]
  }
}

const KINDS: Record<string, Maker> = {
  restriction: accountEvent((_waba, body, sim) => ({
    event: 'ACCOUNT_RESTRICTION',
    restriction_info: [
      {
        restriction_type: textOf(body.restrictionType) ?? 'RESTRICTED_BIZ_INITIATED_MESSAGING',
        expiration: numberOf(body.expiration) ?? Math.floor(sim.now() / 1000) + 3600
      }
    ]
  })),
  violation: accountEvent((_waba, body) => ({
    event: 'ACCOUNT_VIOLATION',
    violation_info: { violation_type: textOf(body.violationType) ?? 'SCAM' }
  })),
  disabled: accountEvent((_waba, body) => ({
    event: 'DISABLED_UPDATE',
    ban_info: { waba_ban_state: textOf(body.banState) ?? 'DISABLE', waba_ban_date: 'April 17, 2026' }
  })),
  account_update: accountEvent((_waba, body) => ({
    event: textOf(body.event) ?? 'VERIFIED_ACCOUNT',
    ...(isObject(body.extra) ? body.extra : {})
  })),
  partner_added: partner('PARTNER_ADDED'),
  partner_removed: partner('PARTNER_REMOVED'),
  partner_app_uninstalled: partner('PARTNER_APP_UNINSTALLED'),
  template_status: templateEvent('message_template_status_update', templateStatus),
  template_quality: templateEvent('message_template_quality_update', (template, body) => {
    const score = textOf(body.score) ?? 'YELLOW'
    const value = templateQualityValue(template, score)
    template.quality = score
    return value
  }),
  template_category: templateEvent('template_category_update', (template, body) => {
    const category = textOf(body.category) ?? 'MARKETING'
    const value = templateCategoryValue(template, category)
    template.category = category
    return value
  }),
  quality: numberEvent('phone_number_quality_update', (number, body) => {
    number.messagingLimit = textOf(body.limit) ?? number.messagingLimit
    number.quality = textOf(body.quality) ?? number.quality
    return {
      display_phone_number: number.digits,
      event: textOf(body.event) ?? 'ONBOARDING',
      current_limit: number.messagingLimit,
      max_daily_conversations_per_business: number.messagingLimit
    }
  }),
  name_update: numberEvent('phone_number_name_update', (number, body) => ({
    display_phone_number: number.digits,
    decision: textOf(body.decision) ?? 'APPROVED',
    requested_verified_name: textOf(body.verifiedName) ?? number.verifiedName,
    rejection_reason: textOf(body.reason) ?? null
  })),
  user_preferences: numberEvent('user_preferences', preferences)
}

/** Posts one account-level event by `kind`, or any `field` and `value`, and waits for the receiver. */
export async function postAccountEvent(sim: Sim, body: JsonObject): Promise<JsonObject | string> {
  const kind = textOf(body.kind)
  const field = textOf(body.field)
  let event: Event | undefined
  if (field !== undefined && isObject(body.value)) {
    const entryId = scalarOf(body.entryId) ?? wabaOf(sim, body)?.id
    event = entryId === undefined ? 'entryId, wabaId or phoneNumberId is needed' : { entryId, field, value: body.value }
  } else if (kind !== undefined) {
    event = KINDS[kind]?.(sim, body)
  }
  if (event === undefined) return `kind must be one of ${Object.keys(KINDS).join(', ')}, or give field and value`
  if (typeof event === 'string') return event
  return { status: await postAccount(sim, event.entryId, event.field, event.value), value: event.value }
}
