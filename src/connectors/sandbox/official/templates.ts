import { lacks, MANAGEMENT } from './access.ts'
import { postAccount, templateStatusValue } from './account-webhooks.ts'
import { badParameter, refuse, requiredParameter, unknownObject } from './errors.ts'
import { one, page } from './fields.ts'
import { isObject, type JsonObject, listOf, textOf } from './json.ts'
import type { Call, Sim } from './sim.ts'
import { newId, type Template, type Waba } from './state.ts'
import { componentsFit, headFits } from './template-rules.ts'
import { type Answer, json, success } from './wire.ts'

const MAX_TEMPLATES = 250
const EDITABLE = ['APPROVED', 'REJECTED', 'PAUSED']
const DAY_MS = 86_400_000
const MAX_EDITS_30_DAYS = 10
const TEMPLATE_IDS = 1_689_556_000_000_000
const DEFAULT_FIELDS = ['id', 'name', 'status', 'category', 'language', 'parameter_format', 'components']

function view(template: Template): JsonObject {
  const { id, name, status, category, language, components } = template
  return {
    id,
    name,
    status,
    category,
    language,
    components,
    parameter_format: template.parameterFormat,
    quality_score: { score: template.quality, date: 1767000000 },
    rejected_reason: template.status === 'REJECTED' ? template.rejectedReason : 'NONE',
    sub_category: undefined
  }
}

const ofWaba = (sim: Sim, wabaId: string) =>
  [...sim.state.templates.values()].filter(template => template.wabaId === wabaId)

/** Puts a template on the list of an account; used by creation and by seeding. */
export function addTemplate(sim: Sim, fields: Omit<Template, 'id' | 'editedAt'> & { id?: string }): Template {
  const template = { ...fields, id: fields.id ?? newId(sim.state, TEMPLATE_IDS), editedAt: [] }
  sim.state.templates.set(template.id, template)
  return template
}

/** Reviews a pending template after the set delay and reports the outcome by webhook. */
function reviewLater(sim: Sim, template: Template): void {
  const { outcome, delayMs } = sim.state.settings.templateReview
  if (outcome === 'NONE') return
  const timer = setTimeout(() => {
    sim.reviews.delete(timer)
    if (template.status !== 'PENDING' || !sim.state.templates.has(template.id)) return
    template.status = outcome
    template.rejectedReason = outcome === 'REJECTED' ? 'INVALID_FORMAT' : 'NONE'
    void postAccount(
      sim,
      template.wabaId,
      'message_template_status_update',
      templateStatusValue(template, outcome, template.rejectedReason)
    )
  }, delayMs)
  sim.reviews.add(timer)
}

function create(sim: Sim, call: Call, waba: Waba): Answer {
  const name = textOf(call.body.name)
  const language = textOf(call.body.language)
  const category = textOf(call.body.category)?.toUpperCase()
  if (!name) return requiredParameter('name')
  if (!language) return requiredParameter('language')
  if (!category) return requiredParameter('category')
  const components = listOf(call.body.components).filter(isObject)
  const format = textOf(call.body.parameter_format)?.toUpperCase() ?? 'POSITIONAL'
  const refused = headFits(name, language, category) ?? componentsFit(components, format, category)
  if (refused) return refused
  const present = ofWaba(sim, waba.id)
  if (present.some(template => template.name === name && template.language === language)) {
    return refuse(100, undefined, { subcode: 2388024, message: 'Invalid parameter' })
  }
  if (present.length >= MAX_TEMPLATES) return refuse(100, undefined, { subcode: 2388019, message: 'Invalid parameter' })
  const template = addTemplate(sim, {
    wabaId: waba.id,
    name,
    language,
    category,
    status: 'PENDING',
    parameterFormat: format,
    components,
    quality: 'UNKNOWN',
    rejectedReason: 'NONE'
  })
  reviewLater(sim, template)
  return json({ id: template.id, status: template.status, category })
}

function remove(sim: Sim, call: Call, waba: Waba): Answer {
  const name = textOf(call.body.name)
  const id = textOf(call.body.hsm_id)
  if (!name) return requiredParameter('name')
  const doomed = ofWaba(sim, waba.id).filter(
    template => template.name === name && (id === undefined || template.id === id)
  )
  if (doomed.length === 0) return badParameter(`Message template ${name} was not found`)
  for (const template of doomed) sim.state.templates.delete(template.id)
  return success
}

/** `/WABA/message_templates`: list, create and delete. */
export function templatesOfWaba(sim: Sim, call: Call, waba: Waba): Answer {
  const denied = lacks(call.token, MANAGEMENT)
  if (denied) return denied
  if (call.method === 'POST') return create(sim, call, waba)
  if (call.method === 'DELETE') return remove(sim, call, waba)
  const filters = ['name', 'status', 'language', 'category'] as const
  const matching = ofWaba(sim, waba.id).filter(template =>
    filters.every(filter => {
      const wanted = call.query.get(filter)
      return wanted === null || template[filter] === wanted
    })
  )
  return page(sim, call, matching.map(view), DEFAULT_FIELDS)
}

function edit(sim: Sim, call: Call, template: Template): Answer {
  if (!EDITABLE.includes(template.status))
    return badParameter(`A template in state ${template.status} cannot be edited`)
  const category = textOf(call.body.category)?.toUpperCase()
  const components = listOf(call.body.components).filter(isObject)
  if (category === undefined && components.length === 0) return requiredParameter('components')
  if (template.status === 'APPROVED') {
    if (category !== undefined && category !== template.category) {
      return badParameter('The category of an approved template is fixed')
    }
    const month = template.editedAt.filter(at => sim.now() - at < 30 * DAY_MS)
    if (month.some(at => sim.now() - at < DAY_MS) || month.length >= MAX_EDITS_30_DAYS) {
      return badParameter('An approved template can be edited once in 24 hours')
    }
  }
  if (components.length > 0) {
    const refused = componentsFit(components, template.parameterFormat, category ?? template.category)
    if (refused) return refused
    template.components = components
  }
  template.category = category ?? template.category
  template.status = 'PENDING'
  template.editedAt.push(sim.now())
  reviewLater(sim, template)
  return json({ success: true, id: template.id, name: template.name, category: template.category })
}

/** `/TEMPLATE_ID`: read or edit one. */
export function templateCall(sim: Sim, call: Call, template: Template): Answer {
  const denied = lacks(call.token, MANAGEMENT)
  if (denied) return denied
  if (call.path.length > 1) return unknownObject(call.path.join('/'), call.method)
  return call.method === 'POST' ? edit(sim, call, template) : one(view(template), call, DEFAULT_FIELDS)
}
