/** Events of messages as they stand in a log, for tests of the views. */
import type { Event } from '../../src/domain/event.ts'
import { at, type History, idOf, TENANT } from './history.ts'

export const CHANNEL = idOf('ch', 'one')
export const CONTACT = idOf('ct', 'one')

type Addressed = { readonly tenantId?: string; readonly channelId?: string; readonly contactId?: string }

/** Admits a message and lets the types happen to it, a second apart. Answers its id. */
export function message(
  history: History,
  name: string,
  second: number,
  types: readonly (string | readonly [type: string, data: object])[] = [],
  addressed: Addressed = {}
): string {
  const messageId = idOf('msg', name)
  const { tenantId = TENANT, channelId = CHANNEL, contactId = CONTACT } = addressed
  const data = { messageId, tenantId, channelId, contactId, contentKind: 'text' }
  const queued: Event = { type: 'MessageQueued', at: at(second), data }
  const more = types.map((type, index): Event => {
    const [name, data] = typeof type === 'string' ? [type, DATA[type] ?? {}] : type
    return { type: name, at: at(second + 1 + index), data }
  })
  history.append(`message-${messageId}`, [queued, ...more])
  return messageId
}

const DATA: Readonly<Record<string, object>> = {
  MessageDispatchStarted: { attempt: 1, dispatchId: 'd' },
  MessageSent: { attempt: 1, by: 'answer' },
  MessageFailed: { code: 'provider_rejected', by: 'provider' },
  MessageRetryScheduled: { attempt: 1, code: 'busy', retryAt: at(1_000) }
}

export function inbound(history: History, name: string, second: number, addressed: Addressed = {}): string {
  const messageId = idOf('msg', name)
  const { tenantId = TENANT, channelId = CHANNEL, contactId = CONTACT } = addressed
  const data = { messageId, tenantId, channelId, contactId, channelKind: 'official', contentKind: 'text' }
  history.append(`message-${messageId}`, [
    { type: 'MessageReceived', at: at(second), data: { ...data, providerIdIndex: `index of ${name}` } }
  ])
  return messageId
}
