/** Events without a decider of their own, for the random history: keys and ends of contacts, opt-outs, templates, retries. */
import { type History, TENANT } from './history.ts'
import { CHANNELS, CONTACTS, type Random } from './random-history.ts'

type Written = readonly [stream: string, type: string, data: unknown]
const many = <T>(times: number, one: T): T[] => Array.from({ length: times }, () => one)

type Delivery = { readonly id: string }

export function recordSomething(history: History, random: Random, at: string, deliveries: readonly Delivery[]): void {
  const contactId = random.pick(CONTACTS)
  const index = contactId.slice(3)
  const other = random.pick(CONTACTS)
  const link = { contactId: other, tenantId: TENANT, index, keyStream: `keys-${TENANT}.${other.slice(3)}.1` }
  const created: Written = [
    `keys-${TENANT}.${index}.1`,
    'ContactKeyCreated',
    { contactId, tenantId: TENANT, index, wrapped: 'w' }
  ]
  const linked: Written = [`keys-${TENANT}.${index}.1`, 'ContactLinked', { ...link, former: contactId }]
  const [stream, type, data] = random.pick<Written>([
    ...many(4, created),
    ...many(4, linked),
    [`keys-${TENANT}.alias${random.below(1000)}.1`, 'ContactLinked', link],
    [`erasure-${contactId}`, 'ContactErased', { contactId, tenantId: TENANT, linked: [other] }],
    [`erasure-${contactId}`, 'ContactErasureCompleted', { contactId, tenantId: TENANT }],
    [`optout-${TENANT}.${index}`, 'ContactOptedOut', { tenantId: TENANT, index, by: 'keyword' }],
    [`optout-${TENANT}.${index}`, 'ContactOptedIn', { tenantId: TENANT, index, by: 'keyword' }],
    ...many(8, [`templates-${TENANT}`, ...randomTemplate(random)] as const),
    ['outcomes-1-20260105', 'DeliveriesRetried', { deliveryIds: deliveries.slice(0, 5).map(({ id }) => id) }]
  ])
  history.append(stream, [{ type, at, data }])
}

function randomTemplate(random: Random): readonly [type: string, data: unknown] {
  const name = random.pick(['greeting', 'reminder', 'receipt'])
  const language = random.pick(['en', 'pt_BR'])
  const text = { body: `Hello {{1}}, ${random.below(100)}` }
  const observed = {
    wabaId: random.pick(['20', '21']),
    channelId: random.pick(CHANNELS),
    name,
    language,
    status: random.pick(['approved', 'paused', 'deleted']),
    ...(random.below(2) === 0 ? { text } : { isNews: true })
  }
  return random.pick<readonly [string, unknown]>([
    ['TemplateSaved', { name, language, text }],
    ['TemplateSaved', { name, language, text }],
    ['TemplateRemoved', { name }],
    ['TemplateObserved', observed],
    ['TemplateObserved', observed]
  ])
}
