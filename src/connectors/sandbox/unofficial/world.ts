import type { Content } from './content.ts'
import type { Directory } from './directory.ts'
import type { Faults } from './faults.ts'
import type { Files } from './files.ts'
import type { Keys } from './keys.ts'
import type { Ledger } from './ledger.ts'
import type { Timers } from './timers.ts'
import type { Target, Webhooks } from './webhooks.ts'

export type Engine = 'WEBJS' | 'NOWEB' | 'GOWS'
export type Status = 'STOPPED' | 'STARTING' | 'SCAN_QR_CODE' | 'WORKING' | 'FAILED'

/** Delays after a send at which each acknowledgement is reported, in milliseconds of real time. */
export type AckDelays = { server: number; device: number; read: number }
export type AutoScan = { afterMs: number; number?: string }
export type Settings = {
  autoAcks: boolean
  autoScan: AutoScan | null
  delaysMs: AckDelays
  recordSends: boolean
  countSends: boolean
  missingQuote: 'drop' | 'refuse'
  /** Really download `file.url`, and answer 500 when that fails. */
  fetchFiles: boolean
  webhookJitterMs: number
}

/** The WhatsApp account a phone lent to a session by scanning its QR. */
export type Login = { number: string; lid: string; pushName: string; about: string; picture: string | null }
/** "Reachout timelock": no writing to people who never wrote; `until` is an ISO time or null for open-ended. */
export type Restriction = { active: boolean; until: string | null; enforcementType: string }

export type Message = {
  bareId: string
  chatId: string
  fromMe: boolean
  participant: string | null
  timestampSeconds: number
  source: 'api' | 'app'
  ack: number
  content: Content
  quoted: Message | null
  mediaPath: string | null
  mediaError: string | null
  pushName: string | null
  senderAlt: string | null
}

export type Session = {
  name: string
  status: Status
  config: Record<string, unknown>
  targets: Target[]
  login: Login | null
  /** Latest three status changes, oldest first; the instants never repeat so that receivers can order them. */
  statuses: { status: Status; timestamp: number }[]
  qr: { value: string; shown: number } | null
  pairingNumber: string | null
  /** NOWEB reconnects without telling: WORKING to the eye, yet nothing goes out. */
  offline: boolean
  silent: boolean
  banned: boolean
  restriction: Restriction | null
  messages: Map<string, Message>
  /** Chats that wrote to us: a restricted account may still answer them. */
  writers: Set<string>
  activityAt: number
  stopClock: () => void
  stopAutoScan: () => void
  waiters: Set<() => void>
}

export type World = {
  version: string
  engine: Engine
  startedAt: number
  now: () => number
  /** Turns a duration of the sheet into the simulated one. */
  scale: (ms: number) => number
  settings: Settings
  sessions: Map<string, Session>
  timers: Timers
  webhooks: Webhooks
  faults: Faults
  ledger: Ledger
  files: Files
  directory: Directory
  keys: Keys
  /** Acknowledgements planned but not yet reported. */
  upcoming: number
  reset: () => void
  setOnline: (online: boolean) => void
  isOnline: () => boolean
}
