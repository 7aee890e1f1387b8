import type { Content, Interactive, Outbound } from '../port.ts'
import { fileNameOf, mediaTypeOf } from './media-type.ts'

type Template = Extract<Content, { kind: 'template' }>
type Media = Extract<Content, { kind: 'media' }>
type Json = { [key: string]: unknown }

/**
 * Body of `POST /PNID/messages` (`provider-official`, 2), as JSON text; null for a reaction without a target.
 * A phone number gets its `+`, without which the platform may prepend the sender's country code.
 */
export function requestBodyOf(message: Outbound): string | null {
  const { content } = message
  const body: Json = { messaging_product: 'whatsapp', recipient_type: 'individual' }
  if (isPhone(message.to)) body.to = `+${message.to}`
  else body.recipient = message.to
  // The platform refuses a quote on a reaction.
  if (message.quotedProviderId !== null && content.kind !== 'reaction') {
    body.context = { message_id: message.quotedProviderId }
  }
  body.biz_opaque_callback_data = message.messageId
  if (!addContent(body, content, message.targetProviderId)) return null
  return JSON.stringify(body)
}

function addContent(body: Json, content: Content, targetProviderId: string | null): boolean {
  switch (content.kind) {
    case 'text':
      body.type = 'text'
      body.text = { body: content.text }
      return true
    case 'media':
      body.type = content.media
      body[content.media] = mediaOf(content)
      return true
    case 'template':
      body.type = 'template'
      body.template = templateOf(content)
      return true
    case 'interactive':
      body.type = 'interactive'
      body.interactive = interactiveOf(content.interactive)
      return true
    case 'reaction':
      if (targetProviderId === null) return false
      body.type = 'reaction'
      body.reaction = { message_id: targetProviderId, emoji: content.emoji }
      return true
  }
}

/** Audio takes no caption, and only a document takes a file name: the platform refuses what it does not know. */
function mediaOf(content: Media): Json {
  const media: Json = { link: content.url }
  if (content.caption !== undefined && content.media !== 'audio') media.caption = content.caption
  if (content.filename !== undefined && content.media === 'document') media.filename = content.filename
  return media
}

function templateOf(content: Template): Json {
  const components: Json[] = []
  if (content.headerText !== undefined) {
    components.push({ type: 'header', parameters: [{ type: 'text', text: content.headerText }] })
  } else if (content.headerMediaUrl !== undefined) {
    components.push({ type: 'header', parameters: [headerMediaOf(content.headerMediaUrl)] })
  }
  if (content.bodyParams !== undefined && content.bodyParams.length > 0) {
    components.push({ type: 'body', parameters: content.bodyParams.map(text => ({ type: 'text', text })) })
  }
  content.buttonParams?.forEach((text, index) => {
    // The position in the list is the position of the button; an empty text marks a button that takes none.
    if (text === '') return
    components.push({ type: 'button', sub_type: 'url', index: String(index), parameters: [{ type: 'text', text }] })
  })
  const template: Json = { name: content.name, language: { code: content.language } }
  if (components.length > 0) template.components = components
  return template
}

/** The API names a link without its kind: the link's ending tells it, and a picture is the common case. */
function headerMediaOf(url: string): Json {
  const type = mediaTypeOf(url) ?? 'image/'
  if (type.startsWith('image/')) return { type: 'image', image: { link: url } }
  if (type.startsWith('video/')) return { type: 'video', video: { link: url } }
  const filename = fileNameOf(url)
  return { type: 'document', document: filename === null ? { link: url } : { link: url, filename } }
}

function interactiveOf(interactive: Interactive): Json {
  if (interactive.type === 'buttons') {
    const buttons = interactive.buttons.map(({ id, title }) => ({ type: 'reply', reply: { id, title } }))
    return { type: 'button', body: { text: interactive.body }, action: { buttons } }
  }
  const action = { button: interactive.buttonLabel, sections: interactive.sections }
  return { type: 'list', body: { text: interactive.body }, action }
}

/** Platform user ids begin with two letters. */
function isPhone(to: string): boolean {
  const first = to.charCodeAt(0)
  return first >= 48 && first <= 57
}
