/** Events without a decider of their own, for the random history: keys and ends of contacts, opt-outs, templates, retries. */
import type { Event } from '../../src/domain/event.ts'
import { type History, TENANT } from './history.ts'
import { CHANNELS, CONTACTS, type Random } from './random-history.ts'

type Delivery = { readonly id: string }

export function recordSomething(history: History, random: Random, at: string, deliveries: readonly Delivery[]): void {
  const contactId = random.pick(CONTACTS)
  switch (random.below(5)) {
    case 0: {
      const data = { contactId, tenantId: TENANT, index: contactId.slice(3), wrapped: 'w' }
      return append(history, `keys-${TENANT}.${contactId.slice(3)}.1`, { type: 'ContactKeyCreated', at, data })
    }
    case 1: {
      const type = random.pick(['ContactErased', 'ContactErasureCompleted'])
      return append(history, `erasure-${contactId}`, { type, at, data: { contactId, tenantId: TENANT } })
    }
    case 2: {
      const type = random.pick(['ContactOptedOut', 'ContactOptedOut', 'ContactOptedIn'])
      const data = { tenantId: TENANT, index: contactId.slice(3), by: 'keyword' }
      return append(history, `optout-${TENANT}.${contactId.slice(3)}`, { type, at, data })
    }
    case 3:
      return append(history, `templates-${TENANT}`, randomTemplate(random, at))
    default: {
      const deliveryIds = deliveries.slice(random.below(deliveries.length + 1)).map(({ id }) => id)
      if (deliveryIds.length > 0)
        append(history, 'outcomes-1-20260105', { type: 'DeliveriesRetried', at, data: { deliveryIds } })
    }
  }
}

const append = (history: History, stream: string, event: Event): void => void history.append(stream, [event])

function randomTemplate(random: Random, at: string): Event {
  const name = random.pick(['greeting', 'reminder', 'receipt'])
  const language = random.pick(['en', 'pt_BR'])
  const text = { body: `Hello {{1}}, ${random.below(100)}` }
  return random.pick<Event>([
    { type: 'TemplateSaved', at, data: { name, language, text } },
    { type: 'TemplateSaved', at, data: { name, language, text } },
    { type: 'TemplateRemoved', at, data: { name } },
    ...['approved', 'paused', 'deleted'].map(status => ({
      type: 'TemplateObserved',
      at,
      data: {
        wabaId: random.pick(['20', '21']),
        channelId: random.pick(CHANNELS),
        name,
        language,
        status,
        ...(random.below(2) === 0 ? { text } : { isNews: true })
      }
    }))
  ])
}
