import type { Fault } from './faults.ts'
import type { JsonObject } from './json.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { createSettings, type Settings } from './settings.ts'

export type PhoneNumber = {
  id: string
  wabaId: string
  displayNumber: string
  digits: string
  verifiedName: string
  registered: boolean
  verified: boolean
  pin: string | null
  pinMisses: number
  codeRequested: boolean
  /** Times of register and deregister calls in milliseconds: ten are allowed in 72 hours. */
  registrations: number[]
  quality: string
  status: string
  messagingLimit: string
  overrideUrl: string | null
  profile: JsonObject
  bucket: { tokens: number; at: number }
}

/** `never`: nobody has subscribed yet, which only matters with the setting `requireSubscription`. */
export type Subscription = 'never' | 'on' | 'off'
export type Waba = {
  id: string
  name: string
  businessId: string
  shared: boolean
  subscription: Subscription
  overrideUrl: string | null
}
export type Template = {
  id: string
  wabaId: string
  name: string
  language: string
  category: string
  status: string
  parameterFormat: string
  components: JsonObject[]
  quality: string
  rejectedReason: string
  editedAt: number[]
}
export type TokenState = 'valid' | 'expired' | 'revoked' | 'password_changed'
export type Token = {
  token: string
  wabas: Set<string> | 'all'
  scopes: Set<string>
  state: TokenState
  userId: string
  /** The literal `APP|SECRET`: good for inspection and app settings, not for accounts. */
  app: boolean
}
export type StoredMedia = {
  id: string
  wabaId: string
  numberId: string
  mimeType: string
  sha256: Buffer
  bytes: Buffer
  expiresAt: number
}
export type Upload = { id: string; sig: string; length: number; mimeType: string; bytes: Buffer }

export type SeedNumber = { id: string; displayNumber: string; verifiedName?: string }
export type Seed = {
  wabas: { id: string; name?: string; numbers: SeedNumber[] }[]
  tokens: { token: string; wabas: string[] | 'all' }[]
}
export type StateOptions = {
  appId: string
  appSecret: string
  verifyToken: string
  callbackUrl: string | null
  delaysMs: { sent: number; delivered: number; read: number } | undefined
  autoStatuses: boolean
}

export type State = {
  appId: string
  appSecret: string
  verifyToken: string
  callbackUrl: string | null
  online: boolean
  settings: Settings
  businesses: Map<string, string>
  wabas: Map<string, Waba>
  numbers: Map<string, PhoneNumber>
  templates: Map<string, Template>
  tokens: Map<string, Token>
  media: Map<string, StoredMedia>
  mediaBytes: number
  uploads: Map<string, Upload>
  handles: Map<string, { mimeType: string; size: number }>
  signupCodes: Map<string, { token: string; used: boolean }>
  faults: Fault[]
  ledger: Ledger
  /** Last inbound message of a user per number, for the customer service window. */
  windows: Map<string, number>
  pairs: Map<string, { tokens: number; at: number }>
  optedOut: Set<string>
  ids: number
}

export function createState(options: StateOptions): State {
  return {
    appId: options.appId,
    appSecret: options.appSecret,
    verifyToken: options.verifyToken,
    callbackUrl: options.callbackUrl,
    online: true,
    settings: createSettings(options.delaysMs, options.autoStatuses),
    businesses: new Map(),
    wabas: new Map(),
    numbers: new Map(),
    templates: new Map(),
    tokens: new Map(),
    media: new Map(),
    mediaBytes: 0,
    uploads: new Map(),
    handles: new Map(),
    signupCodes: new Map(),
    faults: [],
    ledger: createLedger(),
    windows: new Map(),
    pairs: new Map(),
    optedOut: new Set(),
    ids: 0
  }
}

/** Fresh digits-only Graph ids; `base` gives each kind of object its own range. */
export const newId = (state: State, base: number): string => String(base + ++state.ids)

/** Keeps a map of recent things at `limit` entries by forgetting the oldest. */
export function remember<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= limit) return
  const oldest = map.keys().next()
  if (!oldest.done) map.delete(oldest.value)
}
