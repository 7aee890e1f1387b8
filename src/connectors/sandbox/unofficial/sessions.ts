import type { Fields } from './fields.ts'
import { reachoutTimelock } from './phone.ts'
import { showFirstQr } from './qr.ts'
import { setStatus } from './status.ts'
import { targetsOf } from './webhooks.ts'
import type { Session, World } from './world.ts'

/** From start to QR or login (to be scaled). */
const BOOT_MS = 1000

/** A new session, stopped; what was there under the name is replaced. */
export function createSession(world: World, name: string, config: Fields): Session {
  const session: Session = {
    name,
    status: 'STOPPED',
    config,
    targets: targetsOf(config),
    login: null,
    statuses: [],
    qr: null,
    pairingNumber: null,
    offline: false,
    silent: false,
    banned: false,
    restriction: null,
    messages: new Map(),
    writers: new Set(),
    activityAt: world.now(),
    stopClock: () => {},
    stopAutoScan: () => {},
    waiters: new Set()
  }
  world.sessions.set(name, session)
  return session
}

/** Starts a stopped session; any other is left alone, a FAILED one too (that takes a restart). */
export function startSession(world: World, session: Session): void {
  if (session.status === 'STOPPED') boot(world, session)
}

function boot(world: World, session: Session): void {
  session.offline = false
  setStatus(world, session, 'STARTING')
  session.stopClock = world.timers.after(world.scale(BOOT_MS), () => {
    if (session.login) setStatus(world, session, 'WORKING')
    else showFirstQr(world, session)
  })
}

/** Stops a session; the login stays. */
export function stopSession(world: World, session: Session): void {
  if (session.status !== 'STOPPED') setStatus(world, session, 'STOPPED')
}

export function restartSession(world: World, session: Session): void {
  stopSession(world, session)
  boot(world, session)
}

/** Forgets the login; a running session starts again and shows a new QR. */
export function logoutSession(world: World, session: Session): void {
  const wasRunning = session.status !== 'STOPPED'
  stopSession(world, session)
  session.login = null
  session.restriction = null
  if (wasRunning) boot(world, session)
}

/** New configuration; a running session is stopped and started for it. */
export function configureSession(world: World, session: Session, config: Fields): void {
  session.config = config
  session.targets = targetsOf(config)
  if (session.status !== 'STOPPED') restartSession(world, session)
}

export function deleteSession(world: World, session: Session): void {
  stopSession(world, session)
  forgetSession(world, session)
}

/** The server lost its storage: nothing is reported, the session is just unknown. */
export function forgetSession(world: World, session: Session): void {
  session.stopClock()
  session.stopAutoScan()
  world.sessions.delete(session.name)
}

/** `GET /api/sessions/{s}/me`: null before login. */
export function accountOf(world: World, session: Session): Fields | null {
  const login = session.login
  if (!login || session.status !== 'WORKING') return null
  const me: Fields = { id: `${login.number}@c.us`, pushName: login.pushName }
  if (world.engine !== 'WEBJS') Object.assign(me, { lid: login.lid, jid: `${login.number}:12@s.whatsapp.net` })
  if (world.engine !== 'NOWEB' && session.restriction) me.reachoutTimelock = reachoutTimelock(session.restriction)
  return me
}

/** The session object of section 2. */
export function sessionObject(world: World, session: Session): Fields {
  const object: Fields = {
    name: session.name,
    status: session.status,
    config: session.config,
    me: accountOf(world, session),
    engine: { engine: world.engine },
    presence: session.status === 'WORKING' ? 'online' : 'offline',
    timestamps: { activity: session.activityAt },
    assignedWorker: 'waha-1'
  }
  if (world.engine === 'NOWEB' && session.restriction) object.restriction = session.restriction
  return object
}
