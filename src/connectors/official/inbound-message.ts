import type { InboundMessage } from '../port.ts'
import { isObject, type Loose, numberOf, objectOf, parseObject, textOf } from './loose-json.ts'

/** A message item in our words; `ignored` names what is of no use to us. */
export type ParsedMessage = InboundMessage | { readonly kind: 'ignored'; readonly reason: string }

/** One item of `value.messages[]` (`provider-official`, 7.1). A kind that lacks its own object is `unsupported`. */
export function messageOf(item: Loose): ParsedMessage {
  const type = textOf(item.type) ?? 'unknown'
  switch (type) {
    case 'text': {
      const { body } = objectOf(item.text)
      return typeof body === 'string' ? { kind: 'text', text: body } : unsupported(type)
    }
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
      return mediaOf(type, objectOf(item[type]), type)
    case 'sticker': {
      const media = mediaOf('image', objectOf(item.sticker), type)
      return media.kind === 'media' ? { ...media, sticker: true } : media
    }
    case 'reaction':
      return reactionOf(objectOf(item.reaction))
    case 'interactive':
      return interactiveReplyOf(objectOf(item.interactive))
    case 'button':
      return templateButtonOf(objectOf(item.button))
    case 'unsupported':
      return unsupported(textOf(objectOf(item.unsupported).type) ?? type)
    case 'system':
    case 'edit':
    case 'revoke':
      return { kind: 'ignored', reason: `message:${type}` }
    default:
      return unsupported(type)
  }
}

function unsupported(originalType: string): InboundMessage {
  return { kind: 'unsupported', originalType }
}

function mediaOf(media: 'image' | 'video' | 'audio' | 'document', node: Loose, originalType: string): InboundMessage {
  const mediaId = textOf(node.id)
  if (mediaId === null) return unsupported(originalType)
  const caption = textOf(node.caption)
  return {
    kind: 'media',
    media,
    mediaId,
    mimeType: textOf(node.mime_type) ?? 'application/octet-stream',
    filename: textOf(node.filename),
    fileSize: numberOf(node.file_size),
    ...(caption !== null && { caption }),
    path: null
  }
}

/** An empty or absent emoji takes the reaction back. */
function reactionOf(node: Loose): InboundMessage {
  const targetProviderId = textOf(node.message_id)
  if (targetProviderId === null) return unsupported('reaction')
  return { kind: 'reaction', targetProviderId, emoji: textOf(node.emoji) ?? '' }
}

function interactiveReplyOf(node: Loose): InboundMessage {
  if (isObject(node.button_reply)) return replyOf('button', node.button_reply) ?? unsupported('interactive')
  if (isObject(node.list_reply)) return replyOf('list', node.list_reply) ?? unsupported('interactive')
  if (isObject(node.nfm_reply)) return flowReplyOf(node.nfm_reply)
  return unsupported('interactive')
}

function replyOf(replyType: 'button' | 'list', node: Loose): InboundMessage | null {
  const id = textOf(node.id)
  if (id === null) return null
  const description = textOf(node.description)
  const title = textOf(node.title) ?? ''
  return { kind: 'interactive_reply', replyType, id, title, ...(description !== null && { description }) }
}

/** The answers to a flow come as JSON within the JSON; what cannot be read is left out. */
function flowReplyOf(node: Loose): InboundMessage {
  const json = textOf(node.response_json)
  const data = json === null ? null : parseObject(json)
  const id = textOf(node.name) ?? 'flow'
  const title = textOf(node.body) ?? ''
  return { kind: 'interactive_reply', replyType: 'flow', id, title, ...(data !== null && { data }) }
}

/** A tap on a template's quick reply; without a payload the button's text says which. */
function templateButtonOf(node: Loose): InboundMessage {
  const title = textOf(node.text)
  const id = textOf(node.payload) ?? title
  if (id === null) return unsupported('button')
  return { kind: 'interactive_reply', replyType: 'button', id, title: title ?? id }
}
