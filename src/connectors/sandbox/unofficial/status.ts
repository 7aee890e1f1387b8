import { sessionNotRunning, wrongStatus } from './errors.ts'
import { emit } from './events.ts'
import { type Answer, isAnswer } from './routing.ts'
import type { Session, Status, World } from './world.ts'

/** The real server waits some seconds for the right status before it refuses. */
const WRONG_STATUS_WAIT_MS = 100
const STATUSES_KEPT = 3

/** Moves a session to a status, stops the clock of the one before and reports it. */
export function setStatus(world: World, session: Session, status: Status, data: unknown = null): void {
  session.stopClock()
  session.status = status
  if (status !== 'SCAN_QR_CODE') {
    session.qr = null
    session.stopAutoScan()
  }
  reportStatus(world, session, data)
  for (const look of [...session.waiters]) look()
}

/** Tells the receivers the present status: at each change, at each new QR, and with news about restrictions. */
export function reportStatus(world: World, session: Session, data: unknown): void {
  const last = session.statuses.at(-1)
  const timestamp = Math.max(world.now(), (last?.timestamp ?? 0) + 1)
  session.statuses = [...session.statuses, { status: session.status, timestamp }].slice(-STATUSES_KEPT)
  session.activityAt = timestamp
  emit(world, session, 'session.status', {
    name: session.name,
    status: session.status,
    statuses: session.statuses,
    data
  })
}

/** Resolves true once the session has the status, false when `waitMs` pass first. */
export function whenStatus(world: World, session: Session, status: Status, waitMs: number): Promise<boolean> {
  if (session.status === status) return Promise.resolve(true)
  return new Promise(resolve => {
    const finish = (reached: boolean) => {
      cancel()
      session.waiters.delete(look)
      resolve(reached)
    }
    const look = () => {
      if (session.status === status) finish(true)
    }
    const cancel = world.timers.after(waitMs, () => finish(false))
    session.waiters.add(look)
  })
}

/** The session when it runs and has (or soon gets) the status, else the 404 or 422 of section 1. */
export async function sessionIn(world: World, name: string, status: Status): Promise<Session | Answer> {
  const session = world.sessions.get(name)
  if (!session || session.status === 'STOPPED') return sessionNotRunning(name)
  if (session.status === status) return session
  const reached = await whenStatus(world, session, status, WRONG_STATUS_WAIT_MS)
  return reached ? session : wrongStatus(name, session.status, [status])
}

/** Runs `action` with the WORKING session, or answers why there is none. */
export async function withWorking(
  world: World,
  name: string | undefined,
  action: (session: Session) => Answer | Promise<Answer>
): Promise<Answer> {
  const found = await sessionIn(world, name ?? '', 'WORKING')
  return isAnswer(found) ? found : action(found)
}
