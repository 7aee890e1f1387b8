import { isObject, type Loose, listOf, objectOf, textOf } from '../official/loose-json.ts'
import type { InboundMessage } from '../port.ts'
import { mediaFactsOf, member, protoOf } from './engine-data.ts'

/** Null: noise of the protocol that nobody wrote. */
export type ParsedMessage = InboundMessage | null

/**
 * What a `message.any` payload holds (`provider-unofficial`, 6.4): media, else a reply to choices, else text,
 * else a kind that we do not carry. There is no normalised type, so the engine's raw object decides.
 */
export function messageOf(payload: Loose, bareId: string): ParsedMessage {
  const data = objectOf(payload._data)
  const body = textOf(payload.body)
  if (payload.hasMedia === true) return mediaOf(payload, data, body, bareId)
  // One engine puts a picture or a card's text into the body of these.
  if (isObject(payload.location)) return { kind: 'unsupported', originalType: 'location' }
  if (listOf(payload.vCards).length > 0) return { kind: 'unsupported', originalType: 'contacts' }
  const reply = replyOf(data, body)
  if (reply !== null) return reply
  if (body !== null) return { kind: 'text', text: body }
  const originalType = originalTypeOf(data)
  return originalType === null ? null : { kind: 'unsupported', originalType }
}

function mediaOf(payload: Loose, data: Loose, caption: string | null, bareId: string): InboundMessage {
  const media = objectOf(payload.media)
  const facts = mediaFactsOf(data)
  const mimeType = textOf(media.mimetype) ?? facts.mimeType ?? 'application/octet-stream'
  const sticker = facts.type === 'sticker' || mimeType.startsWith('image/webp')
  return {
    kind: 'media',
    media: facts.type?.startsWith('document') ? 'document' : mediaKindOf(mimeType),
    mediaId: bareId,
    mimeType,
    filename: textOf(media.filename) ?? facts.filename,
    fileSize: facts.fileSize,
    ...(caption !== null && { caption }),
    ...(sticker && { sticker: true as const }),
    path: pathOf(media, textOf(payload.mediaUrl))
  }
}

function mediaKindOf(mimeType: string): 'image' | 'video' | 'audio' | 'document' {
  const kind = mimeType.slice(0, mimeType.indexOf('/'))
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'document'
}

/**
 * Path and query of the file on the instance, whose own idea of its host is often wrong.
 * Null when there is no file, or when it lies in a foreign store that the instance's address does not lead to.
 */
function pathOf(media: Loose, deprecatedUrl: string | null): string | null {
  const url = textOf(media.url) ?? deprecatedUrl
  if (url === null || isObject(media.s3) || !URL.canParse(url)) return null
  const { pathname, search } = new URL(url)
  return pathname.startsWith('/') ? pathname + search : null
}

/** Where each form of reply keeps the id that was chosen, and its title; names are compared without case. */
const REPLY_FORMS = [
  { node: 'buttonsResponseMessage', type: 'button', id: 'selectedButtonId', title: 'selectedDisplayText' },
  { node: 'templateButtonReplyMessage', type: 'button', id: 'selectedId', title: 'selectedDisplayText' },
  { node: 'listResponseMessage', type: 'list', id: 'selectedRowId', title: 'title' }
] as const

function replyOf(data: Loose, body: string | null): InboundMessage | null {
  const proto = protoOf(data)
  for (const form of REPLY_FORMS) {
    const node = member(proto, form.node)
    if (isObject(node)) return replyIn(node, form, body)
  }
  if (data.type === 'list_response') return replyIn(objectOf(member(data, 'listResponse')), REPLY_FORMS[2], body)
  if (data.type === 'buttons_response') return replyIn(data, REPLY_FORMS[0], body)
  if (data.type === 'template_button_reply') return replyIn(data, REPLY_FORMS[1], body)
  return null
}

function replyIn(node: Loose, form: (typeof REPLY_FORMS)[number], body: string | null): InboundMessage | null {
  const holder = form.type === 'list' ? objectOf(member(node, 'singleSelectReply')) : node
  const id = textOf(member(holder, form.id))
  if (id === null) return null
  const title = body ?? textOf(member(node, form.title)) ?? id
  const description = form.type === 'list' ? textOf(member(node, 'description')) : null
  return { kind: 'interactive_reply', replyType: form.type, id, title, ...(description !== null && { description }) }
}

/** Kinds, in both spellings, that carry no message of a person when their body is empty. */
const NOISE = new RegExp(
  '^(conversation|extendedText|protocol|senderKeyDistribution|fastRatchetKeySenderKeyDistribution|messageContextInfo|' +
    'reaction|encReaction|pollUpdate|keepInChat|pinInChat|edited|chat|e2e_notification|notification|' +
    'notification_template|gp2|ciphertext|revoked|call_log)(message)?$',
  'i'
)

const KINDS: readonly { readonly test: RegExp; readonly originalType: string }[] = [
  { test: /^(live)?location/i, originalType: 'location' },
  { test: /^(contact|(multi_)?vcard)/i, originalType: 'contacts' },
  { test: /^poll_?creation/i, originalType: 'poll_creation' }
]

const TYPE_CHARS_MAX = 64

function originalTypeOf(data: Loose): string | null {
  const proto = protoOf(data)
  const names = [...Object.keys(proto).filter(key => isObject(proto[key])), textOf(data.type) ?? '']
  const name = names.find(candidate => candidate !== '' && !NOISE.test(candidate))
  if (name === undefined) return null
  return KINDS.find(kind => kind.test.test(name))?.originalType ?? name.slice(0, TYPE_CHARS_MAX)
}
