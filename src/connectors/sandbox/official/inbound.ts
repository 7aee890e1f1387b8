import { escapedJson, isObject, type JsonObject, listOf, numberOf, objectOf, scalarOf, textOf } from './json.ts'
import { downloadUrl, storeMedia } from './media.ts'
import { MEDIA_KINDS } from './media-shape.ts'
import type { Sim } from './sim.ts'
import { type PhoneNumber, remember } from './state.ts'
import { callbackOf } from './status-updates.ts'

const DEFAULT_SENDER = '5511900000001'
const MAX_MESSAGES = 100_000
const MAX_IDS_ANSWERED = 1000
const POSTS_AT_ONCE = 8
const MAX_WINDOWS = 100_000
const DEFAULT_MIME: Record<string, string> = {
  image: 'image/jpeg',
  video: 'video/mp4',
  audio: 'audio/ogg; codecs=opus',
  document: 'application/pdf',
  sticker: 'image/webp'
}

type Sender = { from: string | undefined; userId: string | undefined; name: string }

function senderOf(body: JsonObject): Sender {
  const userId = textOf(body.fromUserId)
  const hidden = body.from === null || (body.from === undefined && userId !== undefined)
  return {
    from: hidden ? undefined : (scalarOf(body.from) ?? DEFAULT_SENDER),
    userId,
    name: textOf(body.profileName) ?? 'Ana'
  }
}

/** Gives a media message a stored file to point at, unless it names one. */
function withMedia(sim: Sim, number: PhoneNumber, body: JsonObject, message: JsonObject): JsonObject {
  const type = textOf(message.type) ?? ''
  if (!MEDIA_KINDS.includes(type)) return message
  const content = objectOf(message[type])
  if (content.id !== undefined) return message
  const given = objectOf(body.media)
  const mimeType = textOf(given.mimeType) ?? textOf(content.mime_type) ?? DEFAULT_MIME[type] ?? ''
  const bytes = Buffer.from(textOf(given.base64) ?? Buffer.from(`inbound ${type}`).toString('base64'), 'base64')
  const media = storeMedia(sim, number, bytes, mimeType, true)
  const stored: JsonObject = { mime_type: mimeType, sha256: media.sha256.toString('base64'), id: media.id }
  if (given.withUrl === true) stored.url = downloadUrl(sim, media)
  return { ...message, [type]: { ...content, ...stored } }
}

function contactsOf(body: JsonObject, message: JsonObject, sender: Sender): JsonObject {
  const changedNumber = objectOf(message.system).type === 'user_changed_number'
  if (body.contacts === false || changedNumber) return {}
  if (Array.isArray(body.contacts)) return { contacts: body.contacts }
  const contact: JsonObject = { profile: { name: sender.name } }
  if (sender.from !== undefined) contact.wa_id = sender.from
  if (sender.userId !== undefined) contact.user_id = sender.userId
  return { contacts: [contact] }
}

function oneMessage(sim: Sim, number: PhoneNumber, body: JsonObject, sender: Sender): JsonObject {
  const content = withMedia(sim, number, body, objectOf(body.message))
  const id = textOf(content.id) ?? sim.wamids.inbound(sender.from ?? number.digits)
  const common: JsonObject = { id, timestamp: scalarOf(body.timestamp) ?? String(Math.floor(sim.now() / 1000)) }
  if (sender.from !== undefined) common.from = sender.from
  if (sender.userId !== undefined) common.from_user_id = sender.userId
  sim.state.ledger.knowInbound(id)
  const user = sender.from ?? sender.userId ?? ''
  remember(sim.state.windows, `${number.id} ${user}`, sim.now(), MAX_WINDOWS)
  return { ...common, ...content, id }
}

/** An envelope with message items of one number. */
export function messagesEnvelope(number: PhoneNumber, value: JsonObject, field = 'messages'): JsonObject {
  const metadata = { display_phone_number: number.digits, phone_number_id: number.id }
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: number.wabaId, changes: [{ value: { messaging_product: 'whatsapp', metadata, ...value }, field }] }]
  }
}

/** Runs `work` over all bodies, some at once; answers the receiver's statuses in their order. */
async function postAll(sim: Sim, url: string, bodies: readonly string[]): Promise<(number | null)[]> {
  const statuses: (number | null)[] = new Array(bodies.length).fill(null)
  let next = 0
  const worker = async () => {
    while (next < bodies.length) {
      const mine = next++
      statuses[mine] = await sim.webhooks.post(url, bodies[mine] ?? '')
    }
  }
  await Promise.all(Array.from({ length: Math.min(POSTS_AT_ONCE, bodies.length) }, worker))
  return statuses
}

/**
 * Posts inbound messages and waits for the receiver: each in its own webhook, all in one with `batch`, and every
 * webhook `1 + duplicates` times. Answers the last status, how many were acknowledged, and the message ids.
 */
export async function postInbound(sim: Sim, body: JsonObject): Promise<JsonObject | string> {
  const number = sim.state.numbers.get(scalarOf(body.phoneNumberId) ?? '')
  if (!number) return 'phoneNumberId is unknown'
  if (!isObject(body.message)) return 'message must be an object with a type'
  const url = callbackOf(sim.state, number.id)
  if (url === null) return 'no callback URL, or the app is not subscribed'
  const sender = senderOf(body)
  const count = Math.min(numberOf(body.count) ?? 1, MAX_MESSAGES)
  const messages = Array.from({ length: count }, () => oneMessage(sim, number, body, sender))
  const groups = body.batch === true ? [messages] : messages.map(message => [message])
  const errors = Array.isArray(body.valueErrors) ? { errors: listOf(body.valueErrors) } : {}
  const bodies = groups.map(group =>
    escapedJson(messagesEnvelope(number, { ...contactsOf(body, group[0] ?? {}, sender), messages: group, ...errors }))
  )
  const statuses = await postAll(sim, url, bodies)
  for (let again = numberOf(body.duplicates) ?? 0; again > 0; again--) {
    statuses.push(...(await postAll(sim, url, bodies)))
  }
  return {
    status: statuses.at(-1) ?? null,
    posted: statuses.length,
    acknowledged: statuses.filter(status => status === 200).length,
    ids: messages.slice(0, MAX_IDS_ANSWERED).map(message => message.id ?? null)
  }
}
