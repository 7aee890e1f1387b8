import { escapedJson, type JsonObject } from './json.ts'
import type { Sim } from './sim.ts'
import type { Template } from './state.ts'
import { hears } from './status-updates.ts'

/** An account-level change: `time` stands on the entry and there is no metadata. */
export const accountEnvelope = (sim: Sim, entryId: string, field: string, value: JsonObject): JsonObject => ({
  object: 'whatsapp_business_account',
  entry: [{ id: entryId, time: Math.floor(sim.now() / 1000), changes: [{ field, value }] }]
})

/** Posts an account-level webhook to the app's own callback, which no override changes. Null: no receiver. */
export function postAccount(sim: Sim, entryId: string, field: string, value: JsonObject): Promise<number | null> {
  const url = sim.state.callbackUrl
  if (url === null || !hears(sim.state, entryId)) return Promise.resolve(null)
  return sim.webhooks.post(url, escapedJson(accountEnvelope(sim, entryId, field, value)))
}

const ids = (template: Template): JsonObject => ({
  message_template_id: Number(template.id),
  message_template_name: template.name,
  message_template_language: template.language
})

export const templateStatusValue = (template: Template, event: string, reason: string | null): JsonObject => ({
  event,
  ...ids(template),
  reason,
  message_template_category: template.category
})

export const templateQualityValue = (template: Template, score: string): JsonObject => ({
  previous_quality_score: template.quality,
  new_quality_score: score,
  ...ids(template)
})

export const templateCategoryValue = (template: Template, category: string): JsonObject => ({
  ...ids(template),
  previous_category: template.category,
  new_category: category
})
