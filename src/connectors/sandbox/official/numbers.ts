import { lacks, MANAGEMENT } from './access.ts'
import { badParameter, refuse, unknownObject } from './errors.ts'
import { one } from './fields.ts'
import { isObject, type JsonObject, scalarOf } from './json.ts'
import { uploadMedia } from './media.ts'
import { setOverride } from './overrides.ts'
import { profileCall } from './profile.ts'
import type { Call, Sim } from './sim.ts'
import type { PhoneNumber } from './state.ts'
import { type Answer, success } from './wire.ts'

const DEFAULT_FIELDS = [
  'id',
  'display_phone_number',
  'verified_name',
  'quality_rating',
  'code_verification_status',
  'platform_type',
  'throughput'
]
const LISTED_FIELDS = ['id', 'display_phone_number', 'verified_name', 'quality_rating']
const REGISTRATION_WINDOW_MS = 72 * 3_600_000
const MAX_REGISTRATIONS = 10
const MAX_PIN_MISSES = 5
export const VERIFICATION_CODE = '000000'

function health(number: PhoneNumber): JsonObject {
  const sending = ['BANNED', 'RESTRICTED', 'DISCONNECTED'].includes(number.status) ? 'BLOCKED' : 'AVAILABLE'
  return {
    can_send_message: sending,
    entities: [{ entity_type: 'PHONE_NUMBER', id: number.id, can_send_message: sending }]
  }
}

/** All fields of a number that can be asked for. */
export function numberView(sim: Sim, number: PhoneNumber): JsonObject {
  const waba = sim.state.wabas.get(number.wabaId)
  const configuration: JsonObject = {}
  if (sim.state.callbackUrl !== null) configuration.application = sim.state.callbackUrl
  if (waba?.overrideUrl) configuration.whatsapp_business_account = waba.overrideUrl
  if (number.overrideUrl) configuration.phone_number = number.overrideUrl
  return {
    id: number.id,
    display_phone_number: number.displayNumber,
    verified_name: number.verifiedName,
    quality_rating: number.quality,
    code_verification_status: number.verified ? 'VERIFIED' : 'NOT_VERIFIED',
    name_status: 'APPROVED',
    platform_type: number.registered ? 'CLOUD_API' : 'NOT_APPLICABLE',
    throughput: { level: number.registered ? 'STANDARD' : 'NOT_APPLICABLE' },
    status: number.status,
    account_mode: 'LIVE',
    is_official_business_account: false,
    is_pin_enabled: number.pin !== null,
    whatsapp_business_manager_messaging_limit: number.messagingLimit,
    messaging_limit_tier: number.messagingLimit,
    last_onboarded_time: '2026-01-10T10:00:00+0000',
    health_status: health(number),
    webhook_configuration: configuration
  }
}

export const listedFields = LISTED_FIELDS

/** Null when one more register or deregister call is allowed; it is counted. */
function countRegistration(sim: Sim, number: PhoneNumber): Answer | null {
  const now = sim.now()
  number.registrations = number.registrations.filter(at => now - at < REGISTRATION_WINDOW_MS)
  if (number.registrations.length >= MAX_REGISTRATIONS) {
    return refuse(133016, 'More than 10 registrations and deregistrations in 72 hours.')
  }
  number.registrations.push(now)
  return null
}

function register(sim: Sim, call: Call, number: PhoneNumber): Answer {
  const pin = scalarOf(call.body.pin) ?? ''
  if (call.body.messaging_product !== 'whatsapp') return badParameter('The parameter messaging_product is required.')
  if (!/^\d{6}$/.test(pin)) return badParameter('Param pin must be exactly six digits.')
  if (!number.verified) return refuse(133006, 'The phone number must be verified first.')
  const over = countRegistration(sim, number)
  if (over) return over
  if (number.pinMisses >= MAX_PIN_MISSES) return refuse(133008, 'Please try again after 12 hours.')
  if (number.pin !== null && number.pin !== pin) {
    number.pinMisses++
    return refuse(133005, 'The two-step verification PIN does not match.')
  }
  number.pin = pin
  number.pinMisses = 0
  number.registered = true
  number.status = 'CONNECTED'
  return success
}

function deregister(sim: Sim, number: PhoneNumber): Answer {
  const over = countRegistration(sim, number)
  if (over) return over
  number.registered = false
  number.status = 'DISCONNECTED'
  return success
}

function requestCode(call: Call, number: PhoneNumber): Answer {
  if (call.body.code_method !== 'SMS' && call.body.code_method !== 'VOICE') {
    return badParameter('Param code_method must be one of {SMS, VOICE}')
  }
  if (!scalarOf(call.body.language)) return badParameter('The parameter language is required.')
  number.codeRequested = true
  return success
}

function verifyCode(call: Call, number: PhoneNumber): Answer {
  if (!number.codeRequested || scalarOf(call.body.code) !== VERIFICATION_CODE) {
    return badParameter('The verification code is wrong or was not requested.')
  }
  number.verified = true
  number.codeRequested = false
  return success
}

/** `POST /PNID`: two-step PIN, or the callback of this number. */
function change(sim: Sim, call: Call, number: PhoneNumber): Answer | Promise<Answer> {
  if (isObject(call.body.webhook_configuration)) {
    return setOverride(sim, call.body.webhook_configuration, url => {
      number.overrideUrl = url
    })
  }
  const pin = scalarOf(call.body.pin)
  if (pin === undefined || !/^\d{6}$/.test(pin)) return badParameter('Param pin must be exactly six digits.')
  number.pin = pin
  return success
}

/** `/PNID` and its edges, sending apart. */
export function numberCall(sim: Sim, call: Call, number: PhoneNumber): Answer | Promise<Answer> {
  const edge = call.path[1]
  if (edge === 'media' && call.method === 'POST') return uploadMedia(sim, call, number)
  const denied = lacks(call.token, MANAGEMENT)
  if (denied) return denied
  if (edge === 'whatsapp_business_profile') return profileCall(sim, call, number)
  if (edge === undefined && call.method === 'GET') return one(numberView(sim, number), call, DEFAULT_FIELDS)
  if (call.method === 'POST') {
    if (edge === undefined) return change(sim, call, number)
    if (edge === 'register') return register(sim, call, number)
    if (edge === 'deregister') return deregister(sim, number)
    if (edge === 'request_code') return requestCode(call, number)
    if (edge === 'verify_code') return verifyCode(call, number)
  }
  return unknownObject(call.path.join('/'), call.method)
}
