import { badParameter, requiredParameter } from './errors.ts'
import { type JsonObject, listOf, longerThan, textOf } from './json.ts'
import type { Call, Sim } from './sim.ts'
import type { PhoneNumber } from './state.ts'
import { type Answer, json, success } from './wire.ts'

const LIMITS: Record<string, number> = { about: 139, address: 256, description: 512, email: 128 }
const FIELDS = [...Object.keys(LIMITS), 'profile_picture_url', 'websites', 'vertical', 'messaging_product']
const MAX_WEBSITES = 2
const MAX_WEBSITE = 256

function read(call: Call, number: PhoneNumber): Answer {
  const asked = (call.query.get('fields') ?? FIELDS.join(',')).split(',').map(name => name.trim())
  const unknown = asked.find(name => !FIELDS.includes(name))
  if (unknown !== undefined) return badParameter(`Tried accessing nonexisting field (${unknown})`)
  const shown: JsonObject = { messaging_product: 'whatsapp' }
  for (const name of asked) if (number.profile[name] !== undefined) shown[name] = number.profile[name]
  return json({ data: [shown] })
}

function write(sim: Sim, call: Call, number: PhoneNumber): Answer {
  const { body } = call
  if (body.messaging_product !== 'whatsapp') return requiredParameter('messaging_product')
  const change: JsonObject = {}
  for (const [name, limit] of Object.entries(LIMITS)) {
    const value = body[name]
    if (value === undefined) continue
    const text = textOf(value)
    if (text === undefined || longerThan(text, limit) || (name === 'about' && text === '')) {
      return badParameter(`Param ${name} must be at most ${limit} characters long.`)
    }
    change[name] = text
  }
  if (body.websites !== undefined) {
    const websites = listOf(body.websites)
    const fit = websites.length <= MAX_WEBSITES && websites.every(site => (textOf(site) ?? '').length <= MAX_WEBSITE)
    if (!fit) return badParameter(`Param websites takes at most ${MAX_WEBSITES} addresses.`)
    change.websites = websites
  }
  if (body.vertical !== undefined) change.vertical = body.vertical
  const handle = textOf(body.profile_picture_handle)
  if (handle !== undefined) {
    if (!sim.state.handles.has(handle)) return badParameter('Param profile_picture_handle is not a valid handle.')
    change.profile_picture_url = `https://pps.whatsapp.net/v/${handle.slice(-20)}.jpg`
  }
  Object.assign(number.profile, change)
  return success
}

/** `GET` and `POST /PNID/whatsapp_business_profile`. */
export const profileCall = (sim: Sim, call: Call, number: PhoneNumber): Answer =>
  call.method === 'POST' ? write(sim, call, number) : read(call, number)
