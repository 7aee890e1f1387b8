import { randomBytes } from 'node:crypto'
import { badRequest, unprocessable } from './errors.ts'
import { faulty } from './faults.ts'
import { asString } from './fields.ts'
import { digitsOf } from './ids.ts'
import { scan } from './phone.ts'
import { isAnswer, json, type Routes } from './routing.ts'
import { reportStatus, sessionIn, setStatus } from './status.ts'
import type { Session, World } from './world.ts'

const FIRST_QR_MS = 60_000
const NEXT_QR_MS = 20_000
const QRS_MAX = 6

/** A stand-in picture: callers that want something scannable rasterise the raw text. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)

const rawQr = () => `2@${[44, 32, 32, 32].map(bytes => randomBytes(bytes).toString('base64')).join(',')}`

/** Starts the QR clock: 60 s, then five times 20 s, then FAILED (scaled). */
export function showFirstQr(world: World, session: Session): void {
  session.qr = { value: rawQr(), shown: 1 }
  setStatus(world, session, 'SCAN_QR_CODE')
  runClock(world, session, FIRST_QR_MS)
  armAutoScan(world, session)
}

function runClock(world: World, session: Session, lifetimeMs: number): void {
  session.stopClock = world.timers.after(world.scale(lifetimeMs), () => {
    const shown = session.qr?.shown ?? QRS_MAX
    if (shown >= QRS_MAX) {
      setStatus(world, session, 'FAILED')
      return
    }
    session.qr = { value: rawQr(), shown: shown + 1 }
    reportStatus(world, session, null)
    runClock(world, session, NEXT_QR_MS)
  })
}

/** Sandbox convenience: a made-up phone scans the QR of the session by itself. */
export function armAutoScan(world: World, session: Session): void {
  session.stopAutoScan()
  const wanted = world.settings.autoScan
  if (wanted === null || session.status !== 'SCAN_QR_CODE') return
  session.stopAutoScan = world.timers.after(wanted.afterMs, () => {
    scan(world, session, wanted.number ?? madeUpNumber())
  })
}

const madeUpNumber = () => `55119${(randomBytes(4).readUInt32BE() % 1e8).toString().padStart(8, '0')}`

export const qrRoutes: Routes = {
  'GET /api/:session/auth/qr': faulty('qr', async (world, { params, query, headers }) => {
    const found = await sessionIn(world, params.session ?? '', 'SCAN_QR_CODE')
    if (isAnswer(found)) return found
    if (query.get('format') === 'raw') return json(200, { value: found.qr?.value ?? '' })
    if (headers.accept?.includes('application/json')) {
      return json(200, { mimetype: 'image/png', data: PNG.toString('base64') })
    }
    return { kind: 'bytes', status: 200, type: 'image/png', body: PNG }
  }),
  'POST /api/:session/auth/request-code': async (world, { params, body }) => {
    const number = digitsOf(asString(body.phoneNumber) ?? '')
    if (number === '') return badRequest(['phoneNumber must be a string'])
    const found = await sessionIn(world, params.session ?? '', 'SCAN_QR_CODE')
    if (isAnswer(found)) return found
    found.pairingNumber = number
    const letters = randomBytes(8).map(byte => 65 + (byte % 26))
    const code = Buffer.from(letters).toString('latin1')
    return json(201, { code: `${code.slice(0, 4)}-${code.slice(4)}` })
  },
  'GET /api/:session/auth/passkey/challenge': () => unprocessable('No passkey is pending'),
  'POST /api/:session/auth/passkey': () => unprocessable('No passkey is pending'),
  'GET /api/:session/auth/passkey/confirmation': () => unprocessable('No passkey is pending'),
  'POST /api/:session/auth/passkey/confirm': () => unprocessable('No passkey is pending')
}
