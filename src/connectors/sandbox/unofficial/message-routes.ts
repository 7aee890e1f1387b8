import { contentOf } from './content.ts'
import { badRequest, notFound } from './errors.ts'
import { emit } from './events.ts'
import { asString } from './fields.ts'
import { bareIdOf, chatIdOf, fullId } from './ids.ts'
import { messagePayload } from './payloads.ts'
import { type Answer, type Call, type Handler, json, type Routes } from './routing.ts'
import { hasStore } from './sending.ts'
import { withWorking } from './status.ts'
import type { Message, Session, World } from './world.ts'

const DEFAULT_LIMIT = 10
const STORE_NEEDED =
  'Enable NOWEB store "config.noweb.store.enabled=True" and "config.noweb.store.fullSync=True" when starting a session'

/** The same chat may go by its number or by its hidden id. */
const isSameChat = (world: World, left: string, right: string) =>
  left === right || pnOf(world, left) === pnOf(world, right)

function pnOf(world: World, chatId: string): string {
  const number = chatId.endsWith('@lid') ? world.directory.numberOf(chatId) : null
  return number === null ? chatId : `${number}@c.us`
}

const onMessage =
  (action: (world: World, session: Session, message: Message, call: Call) => Answer): Handler =>
  (world, call) =>
    withWorking(world, call.params.session, session => {
      if (!hasStore(world, session)) return badRequest(STORE_NEEDED)
      const message = session.messages.get(bareIdOf(call.params.message ?? ''))
      return message ? action(world, session, message, call) : notFound('Message not found')
    })

const list: Handler = (world, { params, query }) =>
  withWorking(world, params.session, session => {
    if (!hasStore(world, session)) return badRequest(STORE_NEEDED)
    const chatId = chatIdOf(params.chat ?? '')
    const limit = Number(query.get('limit') ?? DEFAULT_LIMIT)
    const offset = Number(query.get('offset') ?? 0)
    const since = Number(query.get('filter.timestamp.gte') ?? 0)
    const until = Number(query.get('filter.timestamp.lte') ?? Number.MAX_SAFE_INTEGER)
    const found = [...session.messages.values()]
      .filter(({ timestampSeconds: at }) => at >= since && at <= until)
      .filter(message => isSameChat(world, message.chatId, chatId))
      .reverse()
      .slice(offset, offset + limit)
    return json(
      200,
      found.map(message => messagePayload(world, session, message))
    )
  })

const edit = onMessage((world, session, message, { body }) => {
  const text = asString(body.text)
  if (text === undefined) return badRequest(['text must be a string'])
  message.content = { ...message.content, text }
  reportEdit(world, session, message)
  return json(200, messagePayload(world, session, message))
})

const revoke = onMessage((world, session, message) => {
  reportRevoke(world, session, message)
  session.messages.delete(message.bareId)
  return json(200, { result: true })
})

export function reportEdit(world: World, session: Session, message: Message) {
  const payload = { ...messagePayload(world, session, message), editedMessageId: message.bareId }
  return emit(world, session, 'message.edited', payload)
}

export function reportRevoke(world: World, session: Session, message: Message) {
  const after = messagePayload(world, session, { ...message, content: contentOf('text', null), mediaPath: null })
  const before = messagePayload(world, session, message)
  return emit(world, session, 'message.revoked', { after, before, revokedMessageId: message.bareId })
}

export const messageRoutes: Routes = {
  'GET /api/:session/chats/:chat/messages': list,
  'GET /api/:session/chats/:chat/messages/:message': onMessage((world, session, message, { query }) => {
    const file = message.content.file
    if (query.get('downloadMedia') === 'true' && file?.bytes) {
      message.mediaPath = world.files.put(session.name, fullId(message), file.mimetype, file.bytes)
    }
    return json(200, messagePayload(world, session, message))
  }),
  'PUT /api/:session/chats/:chat/messages/:message': edit,
  'DELETE /api/:session/chats/:chat/messages/:message': revoke
}
