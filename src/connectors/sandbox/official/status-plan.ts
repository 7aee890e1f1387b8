import { webhookError } from './errors.ts'
import type { Fault } from './faults.ts'
import type { JsonObject } from './json.ts'
import type { Accepted } from './ledger.ts'
import type { Sim } from './sim.ts'
import type { StatusUpdate } from './status-updates.ts'

export type LateFailure = { code: number; title?: string | undefined; details?: string | undefined }
type Plan = { fault: Fault | null; failure: LateFailure | null; skip: readonly string[] }

const LIFE: readonly string[] = ['sent', 'delivered', 'read']

export const failedWith = ({ code, title, details }: LateFailure) => [webhookError(code, title, details)]

function updateAt(sim: Sim, send: Accepted, status: string, delayMs: number): StatusUpdate {
  return { send, status, timestamp: Math.floor((sim.now() + delayMs) / 1000) }
}

function planFailure(sim: Sim, send: Accepted, errors: JsonObject[]): void {
  const delayMs = sim.state.settings.delaysMs.sent
  sim.timeline.add(delayMs, { ...updateAt(sim, send, 'failed', delayMs), errors })
}

/** The statuses after the order, the omissions and the repetitions that a fault scripts. */
function planScripted(sim: Sim, send: Accepted, steps: readonly string[], kind: string | undefined): void {
  const { sent, delivered, read } = sim.state.settings.delaysMs
  const delays = [sent, delivered, read]
  if (kind === 'batch_statuses') {
    sim.timeline.add(
      read,
      steps.map(status => updateAt(sim, send, status, read))
    )
    return
  }
  const reversed = kind === 'reorder_statuses'
  for (const [step, status] of (reversed ? [...steps].reverse() : steps).entries()) {
    const delayMs = delays[reversed ? step : LIFE.indexOf(status)] ?? 0
    const update = updateAt(sim, send, status, delayMs)
    if (kind === 'unknown_fields') {
      const strange = { ...update, status: status === 'sent' ? 'warning' : 'played', unknown: true }
      sim.timeline.add(delayMs, [strange, { ...update, unknown: true }])
      continue
    }
    sim.timeline.add(delayMs, update)
    if (kind === 'duplicate_status') sim.timeline.add(delayMs, update)
  }
}

/** Schedules what is posted about an accepted send: the usual three statuses, a failure, or what a fault scripts. */
export function planStatuses(sim: Sim, send: Accepted, { fault, failure, skip }: Plan): void {
  const kind = fault?.kind
  if (kind === 'no_status' || (!fault && !sim.state.settings.autoStatuses)) return
  const late = fault?.kind === 'status_fail' ? { ...fault, code: fault.code ?? 131026 } : failure
  if (late) {
    planFailure(sim, send, failedWith(late))
    return
  }
  // A reaction never gets further than sent.
  const reached = LIFE.slice(0, send.type === 'reaction' ? 1 : LIFE.length)
  const left = reached.filter(
    status => !skip.includes(status) && !(kind === 'skip_delivered' && status === 'delivered')
  )
  planScripted(sim, send, left, kind)
}
