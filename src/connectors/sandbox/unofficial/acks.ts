import { FUTURE_FIELDS } from './answers.ts'
import { emit } from './events.ts'
import type { Drawn } from './faults.ts'
import { isGroup, lidOf } from './ids.ts'
import { ackPayload, messagePayload } from './payloads.ts'
import { isRestricted } from './phone.ts'
import type { Delivery } from './webhooks.ts'
import type { Message, Session, World } from './world.ts'

type PlannedAck = { ack: number; delayMs: number; error?: unknown }

/** Reports one acknowledgement, unless the session has gone meanwhile. */
export function emitAck(
  world: World,
  session: Session,
  message: Message,
  ack: number,
  options: { error?: unknown; chatId?: string; extra?: object } = {}
): Delivery[] {
  if (world.sessions.get(session.name) !== session || session.status === 'STOPPED') return []
  message.ack = ack
  const event = isGroup(message.chatId) ? 'message.ack.group' : 'message.ack'
  const payload = ackPayload(session, message, ack, options.error, options.chatId ?? message.chatId)
  return emit(world, session, event, { ...payload, ...options.extra })
}

/** The echo of an own message: `message.any` with `fromMe`. */
function emitEcho(world: World, session: Session, message: Message, drawn: Drawn): Delivery[] {
  if (drawn.echo || message.content.kind === 'reaction') return []
  const extra = drawn.fields ? FUTURE_FIELDS : {}
  return emit(world, session, 'message.any', { ...messagePayload(world, session, message), ...extra })
}

/** Echo at once, then the acknowledgements in their time. */
export function announce(world: World, session: Session, message: Message, drawn: Drawn): void {
  emitEcho(world, session, message, drawn)
  for (const planned of planAcks(world, session, message, drawn)) {
    world.upcoming++
    world.timers.after(planned.delayMs, () => {
      world.upcoming--
      emitAck(world, session, message, planned.ack, optionsOf(message, planned, drawn))
    })
  }
}

/** The same, but every report is acknowledged by its receiver before this resolves. */
export async function announceFirst(world: World, session: Session, message: Message, drawn: Drawn): Promise<void> {
  await settled(emitEcho(world, session, message, drawn))
  for (const planned of planAcks(world, session, message, drawn)) {
    await settled(emitAck(world, session, message, planned.ack, optionsOf(message, planned, drawn)))
  }
}

const settled = (deliveries: Delivery[]) => Promise.all(deliveries.map(delivery => delivery.done))

const optionsOf = ({ chatId }: Message, { error }: PlannedAck, drawn: Drawn) => ({
  error,
  chatId: drawn.chat && chatId.endsWith('@c.us') ? lidOf(chatId.replace('@c.us', '')) : chatId,
  ...(drawn.fields ? { extra: FUTURE_FIELDS } : {})
})

function planAcks(world: World, session: Session, message: Message, drawn: Drawn): PlannedAck[] {
  const { server, device, read } = world.settings.delaysMs
  const fault = drawn.acks
  if (fault?.fault === 'ack_error') return [{ ack: -1, delayMs: server, error: fault.error }]
  if (fault?.fault === 'no_ack' || !world.settings.autoAcks) return []
  if (isRestricted(world, session, message.chatId)) {
    return [{ ack: -1, delayMs: server, error: restrictionError(world, session) }]
  }
  if (!isReachable(world, message.chatId)) return [{ ack: -1, delayMs: server }]

  const usual = [
    { ack: 1, delayMs: server },
    { ack: 2, delayMs: device },
    { ack: 3, delayMs: read }
  ].filter(({ ack }) => ack !== 1 || world.engine !== 'GOWS')
  if (fault?.fault === 'duplicate_ack') return usual.flatMap(planned => [planned, planned])
  if (fault?.fault === 'reorder_acks') {
    return usual.map(({ delayMs }, index) => ({ ack: usual.at(-1 - index)?.ack ?? 3, delayMs }))
  }
  return usual
}

/** Why a message to a new contact failed, as far as each engine tells. */
function restrictionError(world: World, { restriction }: Session): unknown {
  if (world.engine !== 'NOWEB') return 'account_restricted (463)'
  const { until = null, enforcementType = 'DEFAULT' } = restriction ?? {}
  return { code: '463', blocked: true, reason: 'account_restricted', until, enforcementType }
}

/** Whether the network knows the chat under exactly this number; hidden ids and groups always pass. */
export const isReachable = (world: World, chatId: string) =>
  !chatId.endsWith('@c.us') || world.directory.resolve(chatId.replace('@c.us', '')) === chatId
