import { type Content, type ContentFile, contentOf } from './content.ts'
import { emit, firstStatusOf } from './events.ts'
import { asArray, asFields, asNumber, asString, type Fields } from './fields.ts'
import { bareIdOf, chatIdOf, digitsOf, fullId, isGroup, lidOf, phoneBareId } from './ids.ts'
import { reportEdit, reportRevoke } from './message-routes.ts'
import { messagePayload, reactionPayload } from './payloads.ts'
import { remember } from './sending.ts'
import type { Delivery } from './webhooks.ts'
import type { Message, Session, World } from './world.ts'

const DEFAULT_GROUP = '120363000000000001@g.us'
const DEFAULT_FILE_BYTES = 1024
const WRITERS_MAX = 100_000
const FILE_BYTES_MAX = 100 * 1024 * 1024

/** First bytes by which file types are told apart, so that made-up files pass a look at them. */
const MEDIA: Record<string, { mimetype: string; magic: string }> = {
  image: { mimetype: 'image/jpeg', magic: 'ffd8ffe000104a464946' },
  video: { mimetype: 'video/mp4', magic: '00000018667479706d703432' },
  voice: { mimetype: 'audio/ogg; codecs=opus', magic: '4f676753' },
  audio: { mimetype: 'audio/mpeg', magic: '494433' },
  document: { mimetype: 'application/pdf', magic: '255044462d312e34' },
  sticker: { mimetype: 'image/webp', magic: '52494646' }
}

export type Received = { status: number | null; id: string }

/** A message arrives from a phone: the receiver's first answer, or a text saying what is wrong with the order. */
export async function receive(world: World, session: Session, order: Fields): Promise<Received | string> {
  const content = contentFrom(asFields(order.message))
  const kind = asString(asFields(order.message).kind)
  if (kind === 'edit' || kind === 'revoke') return change(world, session, kind, asFields(order.message))
  if (content === null) return 'message.kind is unknown'
  const message = messageFrom(world, session, order, content)
  if (content.kind === 'reaction') {
    const target = { text: content.text ?? '', messageId: asString(asFields(order.message).messageId) ?? '' }
    const payload = reactionPayload(world, session, message, target)
    return answered(message, emit(world, session, 'message.reaction', payload))
  }
  storeFile(world, session, message, asFields(order.message))
  remember(session, message)
  if (!message.fromMe && session.writers.size < WRITERS_MAX) session.writers.add(message.chatId)
  const payload = messagePayload(world, session, message)
  const events = message.fromMe ? ['message.any'] : ['message', 'message.any']
  return answered(
    message,
    events.flatMap(event => emit(world, session, event, payload))
  )
}

const answered = async (message: Message, deliveries: Delivery[]): Promise<Received> => ({
  status: await firstStatusOf(deliveries),
  id: fullId(message)
})

async function change(world: World, session: Session, kind: 'edit' | 'revoke', order: Fields) {
  const message = session.messages.get(bareIdOf(asString(order.messageId) ?? ''))
  if (!message) return 'message.messageId is unknown'
  if (kind === 'revoke') return answered(message, reportRevoke(world, session, message))
  message.content = { ...message.content, text: asString(order.text) ?? '' }
  return answered(message, reportEdit(world, session, message))
}

function messageFrom(world: World, session: Session, order: Fields, content: Content): Message {
  const wanted = asFields(order.message)
  const person = chatIdOf(asString(order.from) ?? '5511900000001')
  const sender = order.lid === true && person.endsWith('@c.us') ? lidOf(digitsOf(person)) : person
  const isHidden = sender !== person
  if (isHidden && order.lidKnown === false) world.directory.forgetLid(sender)
  if (isHidden && order.lidKnown !== false) world.directory.learnLid(sender, digitsOf(person))
  const group = asString(order.group) ?? (wanted.kind === 'group' ? DEFAULT_GROUP : null)
  const chatId = group ?? sender
  return {
    bareId: asString(order.id) ?? phoneBareId(),
    chatId,
    fromMe: order.fromMe === true,
    participant: isGroup(chatId) ? sender : null,
    timestampSeconds: asNumber(order.timestamp) ?? Math.floor(world.now() / 1000),
    source: 'app',
    ack: 1,
    content,
    quoted: quotedBy(session, asString(wanted.quotedId), chatId),
    mediaPath: null,
    mediaError: asString(wanted.mediaError) ?? null,
    pushName: asString(order.pushName) ?? 'Ana',
    senderAlt: isHidden && order.lidKnown !== false ? person : null
  }
}

/** A quote of something no longer remembered still carries its bare id. */
function quotedBy(session: Session, quotedId: string | undefined, chatId: string): Message | null {
  if (quotedId === undefined) return null
  const bareId = bareIdOf(quotedId)
  const known = session.messages.get(bareId)
  if (known) return known
  const nothing = { participant: null, timestampSeconds: 0, quoted: null, mediaPath: null, mediaError: null }
  const unknown = { source: 'app' as const, ack: 0, content: contentOf('text', null), pushName: null, senderAlt: null }
  return { bareId, chatId, fromMe: !quotedId.startsWith('false_'), ...nothing, ...unknown }
}

function contentFrom(wanted: Fields): Content | null {
  const kind = asString(wanted.kind) ?? 'text'
  const text = asString(wanted.text) ?? null
  const media = MEDIA[kind]
  if (media) return contentOf(mediaKind(kind), asString(wanted.caption) ?? null, { file: fileFrom(wanted, media) })
  if (kind === 'text' || kind === 'reply' || kind === 'group') return contentOf('text', text ?? '')
  if (kind === 'reaction') return contentOf('reaction', text ?? '')
  if (kind === 'vcard') return contentOf('vcard', null, { vCards: asArray(wanted.vcards).map(String) })
  if (kind === 'location') {
    const place = { latitude: asNumber(wanted.latitude) ?? -23.55, longitude: asNumber(wanted.longitude) ?? -46.63 }
    const named = { title: asString(wanted.name) ?? null, address: asString(wanted.address) ?? null }
    return contentOf('location', null, { location: { ...place, ...named } })
  }
  if (kind === 'list_reply' || kind === 'button_reply') {
    const choice = { id: asString(wanted.id) ?? 'r1', title: asString(wanted.title) ?? 'Row 1' }
    return contentOf(kind, choice.title, { choice })
  }
  return null
}

const mediaKind = (kind: string): Content['kind'] =>
  kind === 'image' || kind === 'video' || kind === 'voice' || kind === 'audio' || kind === 'sticker' ? kind : 'document'

function fileFrom(wanted: Fields, { mimetype, magic }: { mimetype: string; magic: string }): ContentFile {
  const data = asString(wanted.data)
  const start = Buffer.from(magic, 'hex')
  const size = Math.min(asNumber(wanted.bytes) ?? DEFAULT_FILE_BYTES, FILE_BYTES_MAX)
  const bytes = data === undefined ? Buffer.alloc(size, start.subarray(0, size)) : Buffer.from(data, 'base64')
  return { mimetype: asString(wanted.mimetype) ?? mimetype, filename: asString(wanted.filename) ?? null, bytes }
}

/** Puts the file where `media.url` points, unless the order wants it off (`media: "off"`) or failed. */
function storeFile(world: World, session: Session, message: Message, wanted: Fields): void {
  const file = message.content.file
  if (!file?.bytes || wanted.media === 'off' || message.mediaError !== null) return
  message.mediaPath = world.files.put(session.name, fullId(message), file.mimetype, file.bytes)
}
