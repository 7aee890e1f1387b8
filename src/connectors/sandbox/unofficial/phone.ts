import { lidOf } from './ids.ts'
import { reportStatus, setStatus } from './status.ts'
import type { Restriction, Session, World } from './world.ts'

/** The phone scans the QR. False when no QR is shown; a banned account only reaches FAILED. */
export function scan(world: World, session: Session, number: string): boolean {
  if (session.status !== 'SCAN_QR_CODE') return false
  if (session.banned) {
    setStatus(world, session, 'FAILED')
    return true
  }
  const lid = lidOf(number)
  world.directory.learnLid(lid, number)
  session.login = { number, lid, pushName: 'Acme', about: 'Hey there! I am using WhatsApp.', picture: null }
  session.pairingNumber = null
  setStatus(world, session, 'WORKING')
  return true
}

/** The phone removed the linked device: a live session is FAILED and stays so; a restart shows a new QR. */
export function unlink(world: World, session: Session): void {
  const wasLinked = session.login !== null
  session.login = null
  session.offline = false
  if (wasLinked && session.status !== 'STOPPED') setStatus(world, session, 'FAILED')
}

/** The account is banned: as unlinked, and the next scans fail too. */
export function ban(world: World, session: Session): void {
  session.banned = true
  unlink(world, session)
}

/** A short network loss: GOWS goes to STARTING, WEBJS to FAILED, NOWEB says nothing but sends nothing either. */
export function drop(world: World, session: Session): void {
  if (session.status !== 'WORKING') return
  session.offline = true
  if (world.engine === 'GOWS') setStatus(world, session, 'STARTING')
  if (world.engine === 'WEBJS') setStatus(world, session, 'FAILED')
}

/** The network is back: WEBJS restarts by itself, GOWS goes on, NOWEB was WORKING all the time. */
export function recover(world: World, session: Session): void {
  if (!session.offline) return
  session.offline = false
  if (session.login === null || session.status === 'STOPPED') return
  if (world.engine === 'WEBJS') setStatus(world, session, 'STARTING')
  if (session.status !== 'WORKING') setStatus(world, session, 'WORKING')
}

/** Starts or ends a restriction on new contacts; WEBJS and GOWS tell it by repeating their status. */
export function restrict(world: World, session: Session, restriction: Restriction): void {
  session.restriction = restriction
  if (world.engine !== 'NOWEB' && session.status === 'WORKING') {
    reportStatus(world, session, { reachoutTimelock: reachoutTimelock(restriction) })
  }
}

/** The restriction as WEBJS and GOWS spell it, with the end in Unix seconds. */
export const reachoutTimelock = ({ active, until, enforcementType }: Restriction) => ({
  isActive: active,
  enforcementType,
  timeEnforcementEnds: until === null ? null : Math.floor(Date.parse(until) / 1000)
})

/** Whether a restriction stops a message to this chat now. */
export function isRestricted(world: World, session: Session, chatId: string): boolean {
  const restriction = session.restriction
  if (!restriction?.active || session.writers.has(chatId)) return false
  return restriction.until === null || Date.parse(restriction.until) > world.now()
}
