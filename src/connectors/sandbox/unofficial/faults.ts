import { refused, unauthorized } from './errors.ts'
import { asFields, asNumber, asString, type Fields } from './fields.ts'
import type { Answer, Call, Handler } from './routing.ts'
import type { World } from './world.ts'

const FAULTS_MAX = 10_000

/** A send consumes at most one fault of each group, the oldest that matches. */
const GROUPS = {
  error_500: 'answer',
  empty_201: 'answer',
  hang: 'answer',
  reset: 'answer',
  refuse: 'answer',
  slow: 'timing',
  ack_before_answer: 'timing',
  ack_error: 'acks',
  no_ack: 'acks',
  duplicate_ack: 'acks',
  reorder_acks: 'acks',
  no_echo: 'echo',
  ack_lid: 'chat',
  unknown_fields: 'fields'
} as const
export type FaultName = keyof typeof GROUPS
export type FaultGroup = (typeof GROUPS)[FaultName]

export type Fault = {
  fault: FaultName
  match: { chatId?: string; session?: string; text?: string }
  /** Uses left; 0 = until cleared. */
  times: number
  accept: boolean
  ms: number
  status: number
  message: string
  error: unknown
}
export type Drawn = Partial<Record<FaultGroup, Fault>>

const SESSION_FAULTS = ['refuse', 'hang', 'reset', 'unauthorized'] as const
const OCCASIONS = ['create', 'qr', 'look'] as const
export type Occasion = (typeof OCCASIONS)[number]
export type SessionFault = {
  on: Occasion
  fault: (typeof SESSION_FAULTS)[number]
  times: number
  accept: boolean
  status: number
  message: string
}

export type Faults = {
  /** Null when added, else what is wrong with it. */
  add(body: Fields): string | null
  addForSessions(body: Fields): string | null
  draw(session: string, chatId: string, text: string | null): Drawn
  drawForSession(on: Occasion): SessionFault | null
  list(): { faults: Fault[]; sessionFaults: SessionFault[] }
  clear(): void
}

const NOTHING: Drawn = {}

export function createFaults(): Faults {
  let faults: Fault[] = []
  let sessionFaults: SessionFault[] = []

  return {
    add(body) {
      const fault = asString(body.fault) ?? ''
      if (!isFaultName(fault)) return `fault must be one of ${Object.keys(GROUPS).join(', ')}`
      if (faults.length >= FAULTS_MAX) return 'too many faults'
      const match = asFields(body.match)
      faults.push({ fault, match, error: body.error, ms: asNumber(body.ms) ?? 1000, ...common(body) })
      return null
    },
    addForSessions(body) {
      const on = OCCASIONS.find(occasion => occasion === body.on)
      const fault = SESSION_FAULTS.find(name => name === body.fault)
      if (!on) return `on must be one of ${OCCASIONS.join(', ')}`
      if (!fault) return `fault must be one of ${SESSION_FAULTS.join(', ')}`
      if (sessionFaults.length >= FAULTS_MAX) return 'too many faults'
      sessionFaults.push({ on, fault, ...common(body) })
      return null
    },
    draw(session, chatId, text) {
      if (faults.length === 0) return NOTHING
      const drawn: Drawn = {}
      for (const fault of faults) {
        const group = GROUPS[fault.fault]
        const { match } = fault
        if (drawn[group]) continue
        if (match.session !== undefined && match.session !== session) continue
        if (match.chatId !== undefined && match.chatId !== chatId) continue
        if (match.text !== undefined && match.text !== text) continue
        drawn[group] = fault
      }
      const used = new Set<Fault>(Object.values(drawn))
      faults = faults.filter(fault => !used.has(fault) || !isSpent(fault))
      return drawn
    },
    drawForSession(on) {
      const drawn = sessionFaults.find(fault => fault.on === on) ?? null
      if (drawn && isSpent(drawn)) sessionFaults = sessionFaults.filter(fault => fault !== drawn)
      return drawn
    },
    list: () => ({ faults, sessionFaults }),
    clear() {
      faults = []
      sessionFaults = []
    }
  }
}

const isFaultName = (name: string): name is FaultName => Object.hasOwn(GROUPS, name)

const common = (body: Fields) => ({
  times: asNumber(body.times) ?? 1,
  accept: body.accept === true,
  status: asNumber(body.status) ?? 400,
  message: asString(body.message) ?? 'Refused'
})

/** Uses a fault once; true when that was the last time. */
function isSpent(fault: { times: number }): boolean {
  if (fault.times === 0) return false
  fault.times--
  return fault.times === 0
}

/** Lets a session operation fail as ordered; with `accept` it is done and only its answer is lost. */
export const faulty =
  (on: Occasion, handler: Handler): Handler =>
  async (world: World, call: Call): Promise<Answer> => {
    const fault = world.faults.drawForSession(on)
    if (!fault) return handler(world, call)
    if (fault.accept) await handler(world, call)
    if (fault.fault === 'unauthorized') return unauthorized()
    if (fault.fault === 'refuse') return refused(world, call, fault.status, fault.message)
    return { kind: fault.fault }
  }
