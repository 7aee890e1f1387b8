import { badParameter, refuse, requiredParameter } from './errors.ts'
import { interactiveShape } from './interactive-shape.ts'
import { isObject, type Json, type JsonObject, listOf, longerThan, objectOf, textOf } from './json.ts'
import { mediaShape } from './media-shape.ts'
import type { Answer } from './wire.ts'

type Check = (content: JsonObject, message: JsonObject) => Answer | null

const MAX_TEXT = 4096
const MAX_CALLBACK_DATA = 512
const MAX_CARDS = 257
const PHONE = /^[1-9]\d{6,14}$/
const USER_ID = /^[A-Z]{2}\.(ENT\.)?[0-9A-Za-z]{1,128}$/
const NAME_PARTS = ['first_name', 'last_name', 'middle_name', 'suffix', 'prefix']

const missing = (name: string) => refuse(131008, `Required parameter is missing: ${name}`)
const invalid = (details: string) => refuse(131009, details)

function text({ body, preview_url }: JsonObject): Answer | null {
  if (typeof body !== 'string' || body === '') return missing("text['body']")
  if (longerThan(body, MAX_TEXT)) return badParameter(`Param text['body'] must be at most ${MAX_TEXT} characters long.`)
  return preview_url === undefined || typeof preview_url === 'boolean'
    ? null
    : badParameter("Param text['preview_url'] must be a boolean.")
}

const within = (value: Json | undefined, limit: number) =>
  (typeof value === 'number' || (typeof value === 'string' && value !== '')) && Math.abs(Number(value)) <= limit

function location({ latitude, longitude }: JsonObject): Answer | null {
  if (latitude === undefined) return missing("location['latitude']")
  if (longitude === undefined) return missing("location['longitude']")
  return within(latitude, 90) && within(longitude, 180) ? null : invalid('location is out of range')
}

function reaction({ message_id, emoji }: JsonObject, message: JsonObject): Answer | null {
  if (typeof message_id !== 'string' || message_id === '') return missing("reaction['message_id']")
  if (typeof emoji !== 'string') return missing("reaction['emoji']")
  return message.context === undefined ? null : invalid('context is not allowed on a reaction')
}

function contactCards(cards: Json | undefined): Answer | null {
  if (!Array.isArray(cards) || cards.length === 0) return missing('contacts')
  if (cards.length > MAX_CARDS) return invalid(`At most ${MAX_CARDS} contacts`)
  for (const card of cards) {
    const name = objectOf(objectOf(card).name)
    if (!textOf(name.formatted_name)) return missing("contacts['name']['formatted_name']")
    if (!NAME_PARTS.some(part => textOf(name[part])))
      return invalid('A contact needs at least one more part of the name')
  }
  return null
}

function template({ name, language, components }: JsonObject): Answer | null {
  if (!textOf(name)) return missing("template['name']")
  if (!textOf(objectOf(language).code)) return missing("template['language']['code']")
  return components === undefined || listOf(components).every(isObject)
    ? null
    : badParameter('Param template is invalid.')
}

const media =
  (kind: string): Check =>
  content =>
    mediaShape(kind, content)

const CHECKS: Record<string, Check> = {
  text,
  image: media('image'),
  video: media('video'),
  audio: media('audio'),
  document: media('document'),
  sticker: media('sticker'),
  location,
  reaction,
  interactive: interactiveShape,
  template
}

function recipientShape(message: JsonObject): Answer | null {
  if (message.to === undefined && message.recipient === undefined) return requiredParameter('to')
  if (message.to === undefined) {
    return USER_ID.test(textOf(message.recipient) ?? '') ? null : invalid('recipient is not a valid user id')
  }
  if (typeof message.to !== 'string') return badParameter('Param to must be a string.')
  if (message.recipient_type === 'group') return null
  return PHONE.test(message.to.replace(/[+\-() ]/g, '')) ? null : invalid('to is not a valid phone number')
}

/** Null when the body of a send has the right shape; else the refusal of the platform. */
export function messageShape(message: JsonObject): Answer | null {
  if (message.messaging_product === undefined) return requiredParameter('messaging_product')
  if (message.messaging_product !== 'whatsapp')
    return badParameter('Param messaging_product must be one of {WHATSAPP}.')
  if (message.recipient_type !== undefined && !['individual', 'group'].includes(textOf(message.recipient_type) ?? '')) {
    return badParameter('Param recipient_type must be one of {INDIVIDUAL, GROUP}.')
  }
  const recipient = recipientShape(message)
  if (recipient) return recipient
  const callbackData = message.biz_opaque_callback_data
  if (callbackData !== undefined && (typeof callbackData !== 'string' || callbackData.length > MAX_CALLBACK_DATA)) {
    return badParameter(`Param biz_opaque_callback_data must be at most ${MAX_CALLBACK_DATA} characters long.`)
  }
  if (message.context !== undefined && !textOf(objectOf(message.context).message_id)) {
    return missing("context['message_id']")
  }
  const type = message.type ?? 'text'
  if (type === 'contacts') return contactCards(message.contacts)
  const check = typeof type === 'string' ? CHECKS[type] : undefined
  if (!check || typeof type !== 'string') return refuse(131051, 'The message type is not supported.')
  const content = message[type]
  return isObject(content) ? check(content, message) : missing(type)
}
