import { protobufOf, webjsChoice, webjsType } from './content.ts'
import type { Fields } from './fields.ts'
import { fullId, isGroup } from './ids.ts'
import type { Message, Session, World } from './world.ts'

/** Default of the server's base address setting: rarely one that others can reach. */
const FILES_ORIGIN = 'http://localhost:3000'
const ACK_NAMES: Record<number, string> = {
  [-1]: 'ERROR',
  0: 'PENDING',
  1: 'SERVER',
  2: 'DEVICE',
  3: 'READ',
  4: 'PLAYED'
}

export const ackNameOf = (ack: number) => ACK_NAMES[ack] ?? 'UNKNOWN'
/** The address form used inside the raw data of NOWEB and GOWS. */
export const jidOf = (chatId: string) => chatId.replace('@c.us', '@s.whatsapp.net')
export const ownIdOf = (session: Session) => (session.login ? `${session.login.number}@c.us` : null)

/** The normalised message of section 6.4, as in `message`, `message.any` and the chat history. */
export function messagePayload(world: World, session: Session, message: Message): Fields {
  const { content, fromMe, chatId } = message
  const own = ownIdOf(session)
  const isWebjs = world.engine === 'WEBJS'
  return {
    id: fullId(message),
    timestamp: message.timestampSeconds,
    from: isWebjs && fromMe ? own : chatId,
    fromMe,
    source: message.source,
    to: isWebjs ? (fromMe ? chatId : own) : null,
    participant: message.participant,
    body: content.text,
    hasMedia: content.file !== null,
    ...mediaOf(message),
    ack: message.ack,
    ackName: ackNameOf(message.ack),
    location: locationOf(message),
    vCards: content.vCards,
    replyTo: replyToOf(session, message.quoted),
    _data: rawMessage(world, session, message)
  }
}

function mediaOf({ content, mediaPath, mediaError }: Message): Fields {
  if (!content.file || (mediaPath === null && mediaError === null)) return { media: null }
  const url = mediaPath === null ? null : `${FILES_ORIGIN}${mediaPath}`
  const filename = content.kind === 'document' ? content.file.filename : null
  return { media: { url, mimetype: content.file.mimetype, filename, error: mediaError, s3: null }, mediaUrl: url }
}

function locationOf({ content }: Message): Fields | null {
  if (!content.location) return null
  const { latitude, longitude, title, address } = content.location
  const place = { latitude: String(latitude), longitude: String(longitude), live: false, name: title, address }
  return { ...place, url: null, description: null, thumbnail: '' }
}

function replyToOf(session: Session, quoted: Message | null): Fields | null {
  if (!quoted) return null
  const participant = quoted.fromMe ? ownIdOf(session) : (quoted.participant ?? quoted.chatId)
  const hasMedia = quoted.content.file !== null
  return { id: quoted.bareId, participant, body: quoted.content.text, hasMedia, media: null, _data: {} }
}

/** `_data` of each engine. */
export function rawMessage(world: World, session: Session, message: Message): Fields {
  const { bareId, chatId, fromMe, content, pushName, senderAlt, participant, timestampSeconds } = message
  if (world.engine === 'NOWEB') {
    const alt = senderAlt === null ? {} : { [participant ? 'participantAlt' : 'remoteJidAlt']: jidOf(senderAlt) }
    const key = { remoteJid: jidOf(chatId), fromMe, id: bareId, ...(participant && { participant }), ...alt }
    return { key, messageTimestamp: timestampSeconds, pushName, message: protobufOf('NOWEB', content) }
  }
  if (world.engine === 'GOWS') {
    const sender = fromMe ? jidOf(ownIdOf(session) ?? '') : jidOf(participant ?? chatId)
    const people = { Chat: jidOf(chatId), Sender: sender, IsFromMe: fromMe, IsGroup: isGroup(chatId) }
    const when = new Date(timestampSeconds * 1000).toISOString()
    const alt = { SenderAlt: senderAlt === null ? '' : jidOf(senderAlt) }
    const Info = { ...people, ...alt, ID: bareId, PushName: pushName ?? '', Timestamp: when }
    return { Info, Message: protobufOf('GOWS', content) }
  }
  const id = { fromMe, remote: chatId, id: bareId, _serialized: fullId(message) }
  const raw = { id, type: webjsType(content), t: timestampSeconds, notifyName: pushName, body: content.text ?? '' }
  return { ...raw, ...webjsChoice(content) }
}

export type ReactionTarget = { text: string; messageId: string }

/** `message.reaction`: an empty text removes it. */
export function reactionPayload(world: World, session: Session, message: Message, reaction: ReactionTarget): Fields {
  const { id, timestamp, from, fromMe, source, to, participant } = messagePayload(world, session, message)
  return { id, timestamp, from, fromMe, source, to, participant, reaction }
}

/** `message.ack`, optionally with the hidden id in the chat part and with the reason of an ERROR. */
export function ackPayload(session: Session, message: Message, ack: number, error: unknown, chatId: string): Fields {
  const own = ownIdOf(session)
  return {
    id: fullId(message, chatId),
    from: message.fromMe ? chatId : own,
    to: message.fromMe ? own : chatId,
    participant: message.participant,
    fromMe: message.fromMe,
    ack,
    ackName: ackNameOf(ack),
    ...(error === undefined ? {} : { error }),
    _data: {}
  }
}
