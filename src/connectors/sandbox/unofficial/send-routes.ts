import { contentOf } from './content.ts'
import { badRequest, notImplemented } from './errors.ts'
import { asString } from './fields.ts'
import { bareIdOf, chatIdOf, ownBareId } from './ids.ts'
import { type Handler, json, type Routes } from './routing.ts'
import { addressProblems, type Sendable, sendables } from './sendable.ts'
import { type Send, transmit } from './sending.ts'
import { withWorking } from './status.ts'

const sendHandler =
  (endpoint: string, sendable: Sendable): Handler =>
  (world, call) => {
    const { body } = call
    const problems = [...addressProblems(body), ...sendable.problems(body)]
    if (problems.length > 0) return badRequest(problems)
    return withWorking(world, asString(body.session), session => {
      if (sendable.lacking.includes(world.engine)) return notImplemented()
      const send: Send = {
        endpoint,
        chatId: chatIdOf(asString(body.chatId) ?? ''),
        content: sendable.content(body),
        bareId: sendable.takesId && world.engine !== 'WEBJS' ? asString(body.id) : undefined,
        replyTo: asString(body.reply_to),
        status: 201
      }
      return transmit(world, call, session, send)
    })
  }

const react: Handler = (world, call) => {
  const { session: name, messageId, reaction } = call.body
  const id = asString(messageId)
  const text = asString(reaction)
  if (asString(name) === undefined) return badRequest(['session must be a string'])
  if (id === undefined || id.split('_').length < 3) return badRequest(['messageId must be a string'])
  if (text === undefined) return badRequest(['reaction must be a string'])
  return withWorking(world, asString(name), session =>
    transmit(world, call, session, {
      endpoint: 'reaction',
      chatId: id.split('_')[1] ?? '',
      content: contentOf('reaction', text),
      reactsTo: id,
      status: 200
    })
  )
}

const forward: Handler = (world, call) => {
  const { body } = call
  const messageId = asString(body.messageId)
  const problems = addressProblems(body)
  if (messageId === undefined) problems.push('messageId must be a string')
  if (problems.length > 0) return badRequest(problems)
  return withWorking(world, asString(body.session), session => {
    if (world.engine === 'GOWS') return notImplemented()
    const original = session.messages.get(bareIdOf(messageId ?? ''))
    return transmit(world, call, session, {
      endpoint: 'forwardMessage',
      chatId: chatIdOf(asString(body.chatId) ?? ''),
      content: original?.content ?? contentOf('text', ''),
      bareId: world.engine === 'NOWEB' ? asString(body.id) : undefined,
      status: 201
    })
  })
}

/** Seen and typing: nothing to be seen of them but that they were taken. */
const presence: Handler = (world, { body }) => {
  const problems = addressProblems(body)
  if (problems.length > 0) return badRequest(problems)
  return withWorking(world, asString(body.session), () => json(201, { result: true }))
}

export const sendRoutes: Routes = {
  ...Object.fromEntries(Object.entries(sendables).map(([name, one]) => [`POST /api/${name}`, sendHandler(name, one)])),
  'PUT /api/reaction': react,
  'POST /api/forwardMessage': forward,
  'POST /api/sendSeen': presence,
  'POST /api/startTyping': presence,
  'POST /api/stopTyping': presence,
  'GET /api/:session/new-message-id': (world, { params }) =>
    world.engine === 'WEBJS'
      ? notImplemented()
      : withWorking(world, params.session, () => json(200, { id: ownBareId(world.engine) }))
}
