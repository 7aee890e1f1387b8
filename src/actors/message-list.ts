/** Lists and figures of a tenant's messages, from the views. */
import type { ListPage, MessageFilter, Metrics, MetricsWindow } from '../projections/port.ts'
import { type Asker, type Core, now } from './core.ts'
import { shownAddress, type TrackingView } from './tracking.ts'

export type ListedMessage = Omit<TrackingView, 'events'>
/** As a client filters: `recipient` is an address, which only its blind index ever meets (decisions §3). */
export type MessageQuery = Omit<MessageFilter, 'contactId'> & { readonly recipient?: string }

export type MessageList = {
  list(
    asker: Asker,
    query: MessageQuery,
    page: { limit: number; cursor: string | null }
  ): Promise<ListPage<ListedMessage>>
  metrics(asker: Asker, window: MetricsWindow): Promise<Metrics>
  toFilter(asker: Asker, query: MessageQuery): Promise<MessageFilter>
}

export function createMessageList(core: Core): MessageList {
  const { views, keyring, own } = core

  async function toFilter(asker: Asker, { recipient, ...filter }: MessageQuery): Promise<MessageFilter> {
    if (recipient === undefined) return filter
    const contact = await keyring.findContact(asker.tenantId, recipient)
    return { ...filter, contactId: contact?.id ?? null }
  }

  return {
    toFilter,
    async list(asker, query, { limit, cursor }) {
      await own.settled(asker.tenantId)
      const page = views.messages(asker.tenantId, await toFilter(asker, query), limit, cursor)
      const items: ListedMessage[] = []
      for (const item of page.items) {
        const { tenantId: _tenant, contactId: _contact, ...row } = item
        items.push({ ...row, toAddress: await shownAddress(core, item) })
      }
      return { items, nextCursor: page.nextCursor }
    },
    async metrics(asker, window) {
      await own.settled(asker.tenantId)
      return views.metrics(asker.tenantId, window, now(core))
    }
  }
}
