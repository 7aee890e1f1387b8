import { request } from 'undici'
import { announce, announceFirst, isReachable } from './acks.ts'
import { FUTURE_FIELDS, sendAnswer } from './answers.ts'
import type { Content } from './content.ts'
import { crashed, refused, unprocessable } from './errors.ts'
import { emit } from './events.ts'
import type { Drawn } from './faults.ts'
import { asFields, asString } from './fields.ts'
import { bareIdOf, fullId, ownBareId } from './ids.ts'
import { reactionPayload } from './payloads.ts'
import type { Answer, Call } from './routing.ts'
import type { Message, Session, World } from './world.ts'

const MESSAGES_KEPT_PER_SESSION = 1000
const FILE_TIMEOUT_MS = 10_000

/** A validated send on its way through the engine. */
export type Send = {
  endpoint: string
  chatId: string
  content: Content
  /** Pre-generated bare id, where the engine takes one. */
  bareId?: string | undefined
  replyTo?: string | undefined
  /** Full id of the message a reaction is put on. */
  reactsTo?: string
  status: 200 | 201
}

/** Keeps the newest messages of a session for history, quotes, edits and acknowledgements. */
export function remember(session: Session, message: Message): void {
  session.messages.set(message.bareId, message)
  if (session.messages.size <= MESSAGES_KEPT_PER_SESSION) return
  const oldest = session.messages.keys().next()
  if (!oldest.done) session.messages.delete(oldest.value)
}

/** Sends as the engine does, with whatever faults were ordered for this send. */
export async function transmit(world: World, call: Call, session: Session, send: Send): Promise<Answer> {
  const drawn = world.faults.draw(session.name, send.chatId, send.content.text)
  world.ledger.attempted()
  if (drawn.timing?.fault === 'slow') await world.timers.wait(drawn.timing.ms)
  const broken = drawn.answer
  if (broken && broken.fault !== 'empty_201' && !broken.accept) return brokenAnswer(world, call, drawn)

  const refusal = await engineRefusal(world, call, session, send)
  if (refusal) return refusal
  const message = accept(world, call, session, send)
  const announced = drawn.timing?.fault === 'ack_before_answer'
  if (announced) await announceFirst(world, session, message, drawn)
  const answer = broken ? brokenAnswer(world, call, drawn) : goodAnswer(world, session, message, send, drawn)
  if (!announced) answer.after = () => announce(world, session, message, drawn)
  return answer
}

function goodAnswer(world: World, session: Session, message: Message, { status }: Send, drawn: Drawn): Answer {
  const body = sendAnswer(world, session, message)
  return { kind: 'json', status, body: drawn.fields ? { ...body, ...FUTURE_FIELDS } : body }
}

function brokenAnswer(world: World, call: Call, { answer }: Drawn): Answer {
  if (answer?.fault === 'hang' || answer?.fault === 'reset') return { kind: answer.fault }
  if (answer?.fault === 'empty_201') return { kind: 'empty', status: 201 }
  if (answer?.fault === 'refuse') return refused(world, call, answer.status, answer.message)
  return crashed(world, call, 'Evaluation failed')
}

/** What makes the engine itself fail; null when the message can go out. */
async function engineRefusal(world: World, call: Call, session: Session, send: Send): Promise<Answer | null> {
  if (session.offline) return crashed(world, call, 'Connection Closed')
  if (send.chatId.includes('@s.whatsapp.net')) return crashed(world, call, 'Invalid chat id')
  if (world.engine === 'WEBJS' && !isReachable(world, send.chatId)) return crashed(world, call, 'No LID for user')
  if (send.replyTo && !quotedBy(world, session, send.replyTo) && world.settings.missingQuote === 'refuse') {
    return unprocessable('Quoted message is not found')
  }
  const url = asString(asFields(call.body.file).url)
  if (world.settings.fetchFiles && url && !(await isDownloadable(url))) {
    return crashed(world, call, 'Request failed: file.url')
  }
  return null
}

async function isDownloadable(url: string): Promise<boolean> {
  try {
    const answer = await request(url, { headersTimeout: FILE_TIMEOUT_MS, bodyTimeout: FILE_TIMEOUT_MS })
    await answer.body.dump()
    return answer.statusCode === 200
  } catch {
    return false
  }
}

/** NOWEB finds quoted messages only in its store. */
function quotedBy(world: World, session: Session, replyTo: string): Message | null {
  if (world.engine === 'NOWEB' && !hasStore(world, session)) return null
  return session.messages.get(bareIdOf(replyTo)) ?? null
}

/** History, contacts and quotes of NOWEB need its store; the other engines always have theirs. */
export const hasStore = (world: World, session: Session) =>
  world.engine !== 'NOWEB' || asFields(asFields(session.config.noweb).store).enabled === true

function accept(world: World, call: Call, session: Session, send: Send): Message {
  const { chatId, content } = send
  const own = session.login ? `${session.login.number}@c.us` : ''
  const message: Message = {
    bareId: send.bareId ?? ownBareId(world.engine),
    chatId,
    fromMe: true,
    participant: chatId.endsWith('@g.us') ? own : null,
    timestampSeconds: Math.floor(world.now() / 1000),
    source: 'api',
    ack: world.engine === 'GOWS' ? 1 : 0,
    content,
    quoted: send.replyTo ? quotedBy(world, session, send.replyTo) : null,
    mediaPath: null,
    mediaError: null,
    pushName: session.login?.pushName ?? null,
    senderAlt: null
  }
  if (content.kind !== 'reaction') remember(session, message)
  const id = fullId(message)
  world.ledger.accepted({ session: session.name, chatId, endpoint: send.endpoint, body: call.body, id }, content.text)
  if (send.reactsTo !== undefined) {
    const reaction = { text: content.text ?? '', messageId: send.reactsTo }
    emit(world, session, 'message.reaction', reactionPayload(world, session, message, reaction))
  }
  return message
}
