import { isObject, type JsonObject, listOf, numberOf, objectOf, scalarOf, textOf } from './json.ts'

/** Faults of the answer: at most one of these is used up by a send. */
const ANSWER_FAULTS = [
  'refuse',
  'server_error',
  'hang',
  'timeout_after_accept',
  'reset',
  'slow',
  'wrong_wa_id',
  'status_before_answer',
  'unauthorized',
  'throttle',
  'malformed_answer'
] as const
/** Faults of the statuses that follow: a send may use up one of these as well. */
const STATUS_FAULTS = [
  'status_fail',
  'no_status',
  'duplicate_status',
  'reorder_statuses',
  'skip_delivered',
  'unknown_fields',
  'batch_statuses'
] as const

export type FaultKind = (typeof ANSWER_FAULTS)[number] | (typeof STATUS_FAULTS)[number]
export type Fault = {
  id: string
  kind: FaultKind
  about: 'answer' | 'status'
  match: { to: string | undefined; phoneNumberId: string | undefined; callbackData: string | undefined }
  /** Null: until cleared. */
  left: number | null
  hits: number
  code: number | undefined
  httpStatus: number | undefined
  details: string | undefined
  title: string | undefined
  accept: boolean
  withBody: boolean
  before: 'body' | 'answer'
  ms: number
  waId: string | undefined
  statuses: string[]
}
export type Target = { to: string; phoneNumberId: string; callbackData: string | undefined }

const MAX_FAULTS = 10_000
const kinds = new Map<string, 'answer' | 'status'>([
  ...ANSWER_FAULTS.map(kind => [kind, 'answer'] as const),
  ...STATUS_FAULTS.map(kind => [kind, 'status'] as const)
])
const isKind = (value: string): value is FaultKind => kinds.has(value)
const digits = (value: string | undefined) => value?.replace(/\D/g, '')

/** Reads a scripted fault; its members stand beside `fault`, or together with `kind` in an object under `fault`. */
export function readFault(body: JsonObject, id: string): Fault | string {
  const inner = objectOf(body.fault)
  const script: JsonObject = { ...body, ...inner }
  const kind = textOf(body.fault) ?? textOf(inner.kind) ?? textOf(inner.type) ?? ''
  if (!isKind(kind)) return `fault must be one of ${[...kinds.keys()].join(', ')}`
  const match = objectOf(body.match)
  const times = numberOf(body.times) ?? 1
  if (script.before === 'body' && (match.to !== undefined || match.callbackData !== undefined)) {
    return 'before the body is read only phoneNumberId can match'
  }
  return {
    id,
    kind,
    about: kinds.get(kind) ?? 'answer',
    match: {
      to: digits(scalarOf(match.to)),
      phoneNumberId: scalarOf(match.phoneNumberId),
      callbackData: textOf(match.callbackData)
    },
    left: times === 0 ? null : times,
    hits: 0,
    code: numberOf(script.code),
    httpStatus: numberOf(script.httpStatus),
    details: textOf(script.details),
    title: textOf(script.title),
    accept:
      typeof script.accept === 'boolean'
        ? script.accept
        : kind === 'malformed_answer' || kind === 'timeout_after_accept',
    withBody: script.withBody !== false,
    before: script.before === 'body' ? 'body' : 'answer',
    ms: numberOf(script.ms) ?? 1000,
    waId: scalarOf(script.waId),
    statuses: listOf(script.statuses).flatMap(status => textOf(status) ?? [])
  }
}

/** Adds a fault at the end of the script. Answers a sentence when it cannot be used. */
export function addFault(faults: Fault[], body: JsonObject, id: string): Fault | string {
  if (!isObject(body)) return 'the body must be an object'
  if (faults.length >= MAX_FAULTS) return `at most ${MAX_FAULTS} faults`
  const fault = readFault(body, id)
  if (typeof fault !== 'string') faults.push(fault)
  return fault
}

function use(faults: Fault[], index: number): Fault | null {
  const fault = faults[index]
  if (!fault) return null
  fault.hits++
  if (fault.left !== null && --fault.left === 0) faults.splice(index, 1)
  return fault
}

/** The first fault of this kind that matches the send, used up once. */
export function takeFault(faults: Fault[], about: 'answer' | 'status', target: Target): Fault | null {
  if (faults.length === 0) return null
  const to = digits(target.to)
  return use(
    faults,
    faults.findIndex(
      fault =>
        fault.about === about &&
        !(fault.kind === 'reset' && fault.before === 'body') &&
        (fault.match.to === undefined || fault.match.to === to) &&
        (fault.match.phoneNumberId === undefined || fault.match.phoneNumberId === target.phoneNumberId) &&
        (fault.match.callbackData === undefined || fault.match.callbackData === target.callbackData)
    )
  )
}

/** A reset before the body is read can only go by the number in the path. */
export function takeEarlyReset(faults: Fault[], phoneNumberId: string): boolean {
  const index = faults.findIndex(
    fault =>
      fault.kind === 'reset' &&
      fault.before === 'body' &&
      (fault.match.phoneNumberId === undefined || fault.match.phoneNumberId === phoneNumberId)
  )
  return use(faults, index) !== null
}
