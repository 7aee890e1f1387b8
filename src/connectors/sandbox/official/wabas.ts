import { lacks, MANAGEMENT } from './access.ts'
import { unknownObject } from './errors.ts'
import { one, page } from './fields.ts'
import type { JsonObject } from './json.ts'
import { listedFields, numberView } from './numbers.ts'
import { setOverride } from './overrides.ts'
import type { Call, Sim } from './sim.ts'
import type { Waba } from './state.ts'
import { templatesOfWaba } from './templates.ts'
import { type Answer, json, success } from './wire.ts'

/** All fields of an account that can be asked for. */
export const wabaView = (sim: Sim, waba: Waba): JsonObject => ({
  id: waba.id,
  name: waba.name,
  timezone_id: '1',
  message_template_namespace: `ns_${waba.id}`,
  account_review_status: 'APPROVED',
  business_verification_status: 'verified',
  country: 'BR',
  ownership_type: waba.shared ? 'CLIENT_OWNED' : 'SELF',
  currency: 'USD',
  status: 'ACTIVE',
  owner_business_info: { id: waba.businessId, name: sim.state.businesses.get(waba.businessId) ?? '' },
  on_behalf_of_business_info: undefined,
  health_status: {
    can_send_message: 'AVAILABLE',
    entities: [{ entity_type: 'WABA', id: waba.id, can_send_message: 'AVAILABLE' }]
  }
})

function subscriptions(sim: Sim, call: Call, waba: Waba): Answer | Promise<Answer> {
  const { appId } = sim.state
  if (call.method === 'DELETE') {
    waba.subscription = 'off'
    waba.overrideUrl = null
    return success
  }
  if (call.method === 'POST') {
    return setOverride(sim, call.body, url => {
      waba.subscription = 'on'
      waba.overrideUrl = url
    })
  }
  if (waba.subscription !== 'on') return json({ data: [] })
  const app = { id: appId, name: 'Acme app', link: `https://www.facebook.com/games/?app_id=${appId}` }
  const entry: JsonObject = { whatsapp_business_api_data: app }
  if (waba.overrideUrl !== null) entry.override_callback_uri = waba.overrideUrl
  return json({ data: [entry] })
}

/** `/WABA` and its edges. */
export function wabaCall(sim: Sim, call: Call, waba: Waba): Answer | Promise<Answer> {
  const denied = lacks(call.token, MANAGEMENT)
  if (denied) return denied
  const edge = call.path[1]
  if (edge === undefined && call.method === 'GET') return one(wabaView(sim, waba), call, ['id', 'name', 'timezone_id'])
  if (edge === 'message_templates') return templatesOfWaba(sim, call, waba)
  if (edge === 'subscribed_apps') return subscriptions(sim, call, waba)
  if (edge === 'phone_numbers' && call.method === 'GET') {
    // Newest onboarding first.
    const numbers = [...sim.state.numbers.values()].filter(number => number.wabaId === waba.id).reverse()
    return page(
      sim,
      call,
      numbers.map(number => numberView(sim, number)),
      listedFields
    )
  }
  return unknownObject(call.path.join('/'), call.method)
}
