import { fileNameOf, mediaTypeOf } from '../official/media-type.ts'
import type { Content } from '../port.ts'
import { renderInteractive } from './rendering.ts'

type Media = Extract<Content, { kind: 'media' }>
type Json = { [key: string]: unknown }

export type SendRequest = { readonly path: string; readonly body: string }

/** Content that these numbers carry: templates come rendered as text, and reactions are not offered. */
export type SendableContent = Exclude<Content, { kind: 'template' | 'reaction' }>

/** Path and body of a send (`provider-unofficial`, 4.1). `replyTo` is a full message id. */
export function sendRequestOf(
  session: string,
  chatId: string,
  content: SendableContent,
  replyTo: string | null
): SendRequest {
  const common: Json = { session, chatId }
  if (replyTo !== null) common.reply_to = replyTo
  switch (content.kind) {
    case 'text':
      return request('sendText', { ...common, text: content.text })
    case 'interactive':
      return request('sendText', { ...common, text: renderInteractive(content.interactive) })
    case 'media':
      return mediaRequestOf(common, content)
  }
}

function request(operation: string, body: Json): SendRequest {
  return { path: `/api/${operation}`, body: JSON.stringify(body) }
}

/** MIME types where the link's ending tells nothing. */
const FALLBACK_TYPE = {
  image: 'image/jpeg',
  video: 'video/mp4',
  audio: 'audio/ogg; codecs=opus',
  document: 'application/octet-stream'
} as const

function mediaRequestOf(common: Json, content: Media): SendRequest {
  const filename = content.filename ?? fileNameOf(content.url)
  const mimetype = mimeTypeOf(content, filename)
  const file = filename === null ? { mimetype, url: content.url } : { mimetype, filename, url: content.url }
  const body: Json = { ...common, file }
  if (content.media === 'audio' && mimetype.startsWith('audio/ogg')) {
    // A voice note takes no caption, and must be opus: converting leaves one that is as it is.
    return request('sendVoice', { ...body, convert: true })
  }
  if (content.caption !== undefined) body.caption = content.caption
  if (content.media === 'image') return request('sendImage', body)
  if (content.media === 'video') return request('sendVideo', { ...body, convert: true })
  return request('sendFile', body)
}

/** The ending's type when it fits the kind that the caller named; a document may be of any type. */
function mimeTypeOf(content: Media, filename: string | null): string {
  for (const name of [content.url, filename]) {
    const type = name === null ? null : mediaTypeOf(name)
    if (type !== null && (content.media === 'document' || type.startsWith(`${content.media}/`))) return type
  }
  return FALLBACK_TYPE[content.media]
}
