import { isObject, textOf } from '../official/loose-json.ts'

/** A message id taken apart (`provider-unofficial`, 3). `own` and `chat` are null where only the bare id is written. */
export type MessageRef = { readonly own: boolean | null; readonly chat: string | null; readonly bareId: string }

/** Far above any id seen; longer ones are somebody's mistake. */
const ID_CHARS_MAX = 256

/**
 * Reads a message id in any of the engines' forms: `true_<chat>_<bare>` (with the participant behind it in groups),
 * the bare id alone, or an object with the serialized form or its parts. Null when there is no id in it.
 */
export function messageRefOf(value: unknown): MessageRef | null {
  if (typeof value === 'string') return refOfText(value)
  if (!isObject(value)) return null
  // One engine's objects carried `$1` in place of `_serialized` for a while.
  const serialized = textOf(value._serialized) ?? textOf(value.$1)
  if (serialized !== null) return refOfText(serialized)
  const bareId = textOf(value.id)
  if (bareId === null || bareId.length > ID_CHARS_MAX) return null
  const own = typeof value.fromMe === 'boolean' ? value.fromMe : null
  return { own, chat: textOf(value.remoteJid) ?? textOf(value.remote), bareId }
}

function refOfText(text: string): MessageRef | null {
  if (text === '' || text.length > ID_CHARS_MAX) return null
  const [own, chat, ...rest] = text.split('_')
  if (chat === undefined || rest.length === 0 || (own !== 'true' && own !== 'false')) {
    return { own: null, chat: null, bareId: text }
  }
  if (rest.length > 1 && rest.at(-1)?.includes('@')) rest.pop()
  const bareId = rest.join('_')
  return bareId === '' ? null : { own: own === 'true', chat, bareId }
}

/** Full form of a message id; one that is full already stays as it is. */
export function fullMessageId(id: string, own: boolean, chatId: string): string {
  return /^(true|false)_/.test(id) ? id : `${own}_${chatId}_${id}`
}

/** Chat id to send to: digits become a person's chat, anything with a server part is one already. */
export function chatIdOf(to: string): string {
  return to.includes('@') ? to : `${to}@c.us`
}

/**
 * Our form of a person's chat id: digits for a phone number (whatever server and device part it carries),
 * `<digits>@lid` for a hidden id.
 */
export function addressOf(chat: string): string {
  const at = chat.indexOf('@')
  if (at < 0) return chat
  const user = (chat.slice(0, at).split(':')[0] ?? '').split('.')[0] ?? ''
  const server = chat.slice(at + 1)
  if (server === 'lid') return `${user}@lid`
  return server === 'c.us' || server === 's.whatsapp.net' ? user : chat
}

export function isHiddenId(address: string): boolean {
  return address.endsWith('@lid')
}

/** Groups, channels and status posts are nobody's conversation with this number. */
export function isPersonalChat(chat: string): boolean {
  return !/@(g\.us|newsletter|broadcast)$/.test(chat)
}
