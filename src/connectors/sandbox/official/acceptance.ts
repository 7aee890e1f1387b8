import { authenticate, isToken, lacks, MESSAGING, visibleNumber } from './access.ts'
import { badParameter, refuse, unknownObject } from './errors.ts'
import { isObject, type JsonObject, objectOf, parseJson, scalarOf, textOf } from './json.ts'
import type { Accepted } from './ledger.ts'
import { acceptsMime } from './media-kinds.ts'
import { MEDIA_KINDS } from './media-shape.ts'
import { messageShape } from './message-shape.ts'
import type { Sim } from './sim.ts'
import type { PhoneNumber, State, Template, Token } from './state.ts'
import type { LateFailure } from './status-plan.ts'
import { templateToSend } from './template-send.ts'
import type { Answer } from './wire.ts'

const WINDOW_MS = 86_400_000

export type Caller = { token: Token; number: PhoneNumber }
/** A send that the platform would accept, and the failure it would report later if there is one. */
export type Admitted = {
  message: JsonObject
  number: PhoneNumber
  type: string
  to: string
  userId: string | undefined
  callbackData: string | undefined
  template: Template | null
}

/** An answer has a numeric status; a message body may have members of the same names, but never that. */
export const isRefused = (value: object): value is Answer => 'status' in value && typeof value.status === 'number'

/** Token, number, permission and registration, in that order. */
export function admitCaller(
  state: State,
  numberId: string,
  header: string | undefined,
  inQuery: string | null
): Caller | Answer {
  const token = authenticate(state, header, inQuery)
  if (!isToken(token)) return token
  const number = visibleNumber(state, token, numberId)
  if (!number) return unknownObject(numberId, 'POST')
  const denied = lacks(token, MESSAGING)
  if (denied) return denied
  return number.registered ? { token, number } : refuse(133010, 'The account is not registered.')
}

export function readMessage(raw: Buffer): JsonObject | Answer {
  const message = parseJson(raw.toString('utf8'))
  return isObject(message) ? message : badParameter('Invalid parameter: the body is not a JSON object')
}

function mediaFits(state: State, number: PhoneNumber, type: string, message: JsonObject): Answer | null {
  if (!MEDIA_KINDS.includes(type)) return null
  const id = scalarOf(objectOf(message[type]).id)
  if (id === undefined) return null
  const media = state.media.get(id)
  return media && media.wabaId === number.wabaId ? null : refuse(131009, `Media with id ${id} was not found`)
}

/** Shape first, then what the message refers to: quote, media, template. */
export function admitMessage(state: State, number: PhoneNumber, message: JsonObject): Admitted | Answer {
  const broken = messageShape(message)
  if (broken) return broken
  const type = textOf(message.type) ?? 'text'
  const quoted = message.context === undefined ? undefined : textOf(objectOf(message.context).message_id)
  if (quoted !== undefined && !state.settings.acceptUnknownQuote && !state.ledger.knows(quoted)) {
    return refuse(131009, 'The quoted message is unknown')
  }
  const withoutMedia = mediaFits(state, number, type, message)
  if (withoutMedia) return withoutMedia
  const template = type === 'template' ? templateToSend(state, number.wabaId, objectOf(message.template)) : null
  if (template && isRefused(template)) return template
  const to = textOf(message.to)
  if (to === undefined && template?.category === 'AUTHENTICATION') {
    return refuse(131062, 'Authentication templates need a phone number')
  }
  return {
    message,
    number,
    type,
    to: to ?? '',
    userId: to === undefined ? textOf(message.recipient) : undefined,
    callbackData: textOf(message.biz_opaque_callback_data),
    template
  }
}

/** What the real platform finds out only after it has accepted the message. */
export function lateFailure(sim: Sim, admitted: Admitted, send: Accepted): LateFailure | null {
  const { settings, ledger, windows, optedOut, media } = sim.state
  const { number, message, type, template } = admitted
  if (send.waId !== '' && send.waId === number.digits) return { code: 131021 }
  if (settings.unreachable.includes(send.waId)) return { code: 131026, details: 'Message Undeliverable.' }
  if (type === 'reaction' && settings.recordSends) {
    const target = textOf(objectOf(message.reaction).message_id) ?? ''
    const unsuited = !ledger.knows(target) || ledger.sendOf(target)?.type === 'reaction'
    if (unsuited) return { code: 131009, details: 'The message to react to is unknown or too old.' }
  }
  if (settings.enforceWindow && type !== 'template') {
    const opened = windows.get(`${number.id} ${send.waId || (send.userId ?? '')}`)
    if (opened === undefined || sim.now() - opened > WINDOW_MS) {
      return { code: 131047, details: 'More than 24 hours have passed since the recipient last replied.' }
    }
  }
  if (template?.category === 'MARKETING' && optedOut.has(`${number.id} ${send.waId}`)) return { code: 131050 }
  if (MEDIA_KINDS.includes(type)) {
    const stored = media.get(scalarOf(objectOf(message[type]).id) ?? '')
    if (stored && !acceptsMime(type, stored.mimeType)) return { code: 131053, details: 'Unsupported media type.' }
  }
  return null
}
