import { emitAck } from './acks.ts'
import { contentOf } from './content.ts'
import { firstStatusOf, post } from './events.ts'
import { asBoolean, asFields, asNumber, asString, type Fields } from './fields.ts'
import { bareIdOf, chatIdOf, digitsOf, fullId } from './ids.ts'
import { receive } from './inbound.ts'
import { ban, drop, recover, restrict, scan, unlink } from './phone.ts'
import { type Answer, type Call, type Handler, json, type Routes } from './routing.ts'
import { accountOf, forgetSession } from './sessions.ts'
import { whenStatus } from './status.ts'
import type { Message, Session, World } from './world.ts'

const SCAN_WAIT_MS = 5000
const INBOUND_MAX = 10_000
const DEFAULT_NUMBER = '5511900000000'

const onSession =
  (action: (world: World, session: Session, call: Call) => Answer | Promise<Answer>): Handler =>
  (world, call) => {
    const session = world.sessions.get(call.params.session ?? '')
    return session ? action(world, session, call) : json(404, { error: 'unknown session' })
  }

/** Something that happens to the session, answered with what it is like afterwards. */
const happening = (action: (world: World, session: Session, body: Fields) => void) =>
  onSession((world, session, { body }) => {
    action(world, session, body)
    return json(200, { status: session.status, me: accountOf(world, session) })
  })

const scanned = onSession(async (world, session, { body }) => {
  const isReady = await whenStatus(world, session, 'SCAN_QR_CODE', asNumber(body.waitMs) ?? SCAN_WAIT_MS)
  const number = digitsOf(asString(body.number) ?? session.pairingNumber ?? DEFAULT_NUMBER)
  if (!isReady || !scan(world, session, number)) return json(409, { error: `session is ${session.status}` })
  return json(200, { status: session.status, me: accountOf(world, session) })
})

const inbound = onSession(async (world, session, { body }) => {
  if (session.status !== 'WORKING') return json(409, { error: `session is ${session.status}` })
  const count = Math.min(asNumber(body.count) ?? 1, INBOUND_MAX)
  const orders = Array.from({ length: count }, (_, index) => numbered(body, index))
  const received = await Promise.all(orders.map(order => receive(world, session, order)))
  const ids: string[] = []
  let status: number | null = null
  for (const one of received) {
    if (typeof one === 'string') return json(400, { error: one })
    ids.push(one.id)
    if (status === null || (status >= 200 && status < 300)) status = one.status
  }
  return json(200, { status, id: ids[0] ?? null, ids })
})

/** `{n}` in the text becomes the place of the message in the burst. */
function numbered(body: Fields, index: number): Fields {
  const message = asFields(body.message)
  const text = asString(message.text)
  if (text === undefined) return body
  return { ...body, message: { ...message, text: text.replaceAll('{n}', String(index)) } }
}

const acked = onSession(async (world, session, { body }) => {
  const id = asString(body.id)
  const ack = asNumber(body.ack)
  if (id === undefined || ack === undefined) return json(400, { error: 'id and ack are needed' })
  const message = session.messages.get(bareIdOf(id)) ?? unknownMessage(id)
  const options = body.chatId === undefined ? {} : { chatId: chatIdOf(String(body.chatId)) }
  const deliveries = emitAck(world, session, message, ack, { error: body.error, ...options })
  return json(200, { status: await firstStatusOf(deliveries), id: fullId(message) })
})

/** Acknowledgements also come for messages the simulated server never saw, or forgot. */
function unknownMessage(id: string): Message {
  const [fromMe = 'true', chatId = ''] = id.includes('_') ? id.split('_') : []
  const nothing = { participant: null, quoted: null, mediaPath: null, mediaError: null, pushName: null }
  const sent = { source: 'api' as const, ack: 0, timestampSeconds: 0, content: contentOf('text', null) }
  return { bareId: bareIdOf(id), chatId, fromMe: fromMe !== 'false', senderAlt: null, ...nothing, ...sent }
}

export const sessionControlRoutes: Routes = {
  'POST /_control/sessions/:session/scan': scanned,
  'POST /_control/sessions/:session/unlink': happening(unlink),
  'POST /_control/sessions/:session/drop': happening(drop),
  'POST /_control/sessions/:session/recover': happening(recover),
  'POST /_control/sessions/:session/ban': happening(ban),
  'POST /_control/sessions/:session/lose': happening(forgetSession),
  'POST /_control/sessions/:session/silence': happening((_world, session, { on }) => {
    session.silent = on !== false
  }),
  'POST /_control/sessions/:session/restrict': happening((world, session, { active, until, enforcementType }) => {
    restrict(world, session, {
      active: asBoolean(active) ?? true,
      until: asString(until) ?? null,
      enforcementType: asString(enforcementType) ?? 'DEFAULT'
    })
  }),
  'POST /_control/sessions/:session/inbound': inbound,
  'POST /_control/sessions/:session/ack': acked,
  'POST /_control/sessions/:session/event': onSession(async (world, session, { body }) => {
    const event = asString(body.event)
    if (event === undefined) return json(400, { error: 'event is missing' })
    return json(200, { status: await firstStatusOf(post(world, session, event, body.payload ?? {})), id: null })
  })
}
