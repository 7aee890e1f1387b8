import type { Socket } from 'node:net'
import { createDirectory } from './directory.ts'
import { createFaults } from './faults.ts'
import { createFiles } from './files.ts'
import { createKeys } from './keys.ts'
import { createLedger } from './ledger.ts'
import { forgetSession } from './sessions.ts'
import { createTimers } from './timers.ts'
import { createWebhooks } from './webhooks.ts'
import type { AckDelays, AutoScan, Engine, Settings, World } from './world.ts'

const VERSION = '2026.7.1'

export type UnofficialSimulatorOptions = {
  host?: string
  port?: number
  apiKey: string
  engine: Engine
  /** 1 = durations as in the real world, 0.01 = 100 times faster; delays given in milliseconds are not scaled. */
  timeScale?: number
  /** Every QR is scanned by a made-up phone after that time. */
  autoScan?: AutoScan | null
  delaysMs?: AckDelays
  autoAcks?: boolean
}

const settingsOf = ({ autoAcks, autoScan, delaysMs }: UnofficialSimulatorOptions): Settings => ({
  autoAcks: autoAcks ?? true,
  autoScan: autoScan ?? null,
  delaysMs: delaysMs ?? { server: 150, device: 400, read: 900 },
  recordSends: true,
  countSends: true,
  missingQuote: 'drop',
  fetchFiles: false,
  webhookJitterMs: 0
})

/** An empty world; `sockets` are the API connections that going offline destroys. */
export function createWorld(options: UnofficialSimulatorOptions, sockets: Set<Socket>): World {
  const now = Date.now
  const scale = (ms: number) => ms * (options.timeScale ?? 1)
  const settings = settingsOf(options)
  const timers = createTimers()
  let isOnline = true

  const world: World = {
    version: VERSION,
    engine: options.engine,
    startedAt: now(),
    now,
    scale,
    settings,
    sessions: new Map(),
    timers,
    webhooks: createWebhooks({ timers, now, scale, version: VERSION, jitterMs: () => settings.webhookJitterMs }),
    faults: createFaults(),
    ledger: createLedger(settings),
    files: createFiles(timers, scale),
    directory: createDirectory(),
    keys: createKeys(options.apiKey),
    upcoming: 0,
    reset,
    setOnline(online) {
      isOnline = online
      if (online) return
      for (const socket of sockets) socket.destroy()
    },
    isOnline: () => isOnline
  }

  function reset() {
    for (const session of [...world.sessions.values()]) forgetSession(world, session)
    for (const part of [world.files, world.webhooks, world.ledger, world.directory]) part.reset()
    timers.clear()
    world.upcoming = 0
    world.faults.clear()
    world.keys.scoped.clear()
    Object.assign(settings, settingsOf(options))
    isOnline = true
  }

  return world
}
