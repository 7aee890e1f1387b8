import { protobufOf, webjsType } from './content.ts'
import type { Fields } from './fields.ts'
import { fullId } from './ids.ts'
import { jidOf, ownIdOf, rawMessage } from './payloads.ts'
import type { Message, Session, World } from './world.ts'

/** Answer to a send, in the shape each engine has of its own (section 4.3). */
export function sendAnswer(world: World, session: Session, message: Message): Fields {
  if (world.engine === 'GOWS') return { id: fullId(message), _data: rawMessage(world, session, message) }
  if (world.engine === 'NOWEB') {
    return {
      key: { remoteJid: jidOf(message.chatId), fromMe: true, id: message.bareId },
      message: protobufOf('NOWEB', message.content),
      messageTimestamp: String(message.timestampSeconds),
      status: 'PENDING'
    }
  }
  return {
    _data: rawMessage(world, session, message),
    id: { fromMe: true, remote: message.chatId, id: message.bareId, _serialized: fullId(message) },
    ack: 0,
    body: message.content.text ?? '',
    from: ownIdOf(session),
    to: message.chatId,
    timestamp: message.timestampSeconds,
    fromMe: true,
    hasMedia: message.content.file !== null,
    type: webjsType(message.content)
  }
}

/** Fields no version has had so far: receivers must not stumble over them. */
export const FUTURE_FIELDS = { $1: 'renamed', futureField: { nested: [1, null, { deeper: true }] } }
