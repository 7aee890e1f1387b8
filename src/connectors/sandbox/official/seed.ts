import { ALL_SCOPES, MANAGEMENT, MESSAGING } from './access.ts'
import { isObject, type JsonObject, listOf, scalarOf, textOf } from './json.ts'
import { newId, type PhoneNumber, type Seed, type State, type Token, type TokenState, type Waba } from './state.ts'

const BUSINESS_ID = '300000000000001'
const USER_IDS = 122_000_000_000_000
const TOKEN_STATES: readonly string[] = ['valid', 'expired', 'revoked', 'password_changed']
export const SIGNUP_SCOPES = [MANAGEMENT, MESSAGING]

const isTokenState = (value: string): value is TokenState => TOKEN_STATES.includes(value)

/** Adds a number; seeded numbers are registered and verified unless they say otherwise. */
export function addNumber(state: State, wabaId: string, seed: JsonObject): PhoneNumber | string {
  const id = scalarOf(seed.id)
  const displayNumber = textOf(seed.displayNumber)
  if (id === undefined || displayNumber === undefined) return 'a number needs id and displayNumber'
  if (!state.wabas.has(wabaId)) return `no account ${wabaId}`
  const number: PhoneNumber = {
    id,
    wabaId,
    displayNumber,
    digits: displayNumber.replace(/\D/g, ''),
    verifiedName: textOf(seed.verifiedName) ?? 'Acme',
    registered: seed.registered !== false,
    verified: seed.verified !== false,
    pin: scalarOf(seed.pin) ?? null,
    pinMisses: 0,
    codeRequested: false,
    registrations: [],
    quality: textOf(seed.quality) ?? 'GREEN',
    status: textOf(seed.status) ?? (seed.registered === false ? 'PENDING' : 'CONNECTED'),
    messagingLimit: textOf(seed.messagingLimit) ?? 'TIER_2K',
    overrideUrl: null,
    profile: {},
    bucket: { tokens: state.settings.throughputLimit ?? 0, at: 0 }
  }
  state.numbers.set(id, number)
  return number
}

/** Adds an account with its numbers, under one common business unless it names another. */
export function addWaba(state: State, seed: JsonObject): Waba | string {
  const id = scalarOf(seed.id)
  if (id === undefined) return 'an account needs an id'
  const businessId = scalarOf(seed.businessId) ?? BUSINESS_ID
  const name = textOf(seed.businessName) ?? state.businesses.get(businessId) ?? 'Acme Holding'
  state.businesses.set(businessId, name)
  const waba: Waba = {
    id,
    name: textOf(seed.name) ?? 'Acme WABA',
    businessId,
    shared: seed.shared === true,
    subscription: 'never',
    overrideUrl: null
  }
  state.wabas.set(id, waba)
  for (const number of listOf(seed.numbers).filter(isObject)) {
    const added = addNumber(state, id, number)
    if (typeof added === 'string') return added
  }
  return waba
}

/** Adds an access token for some accounts or all of them, with every permission unless it names its own. */
export function addToken(state: State, seed: JsonObject): Token | string {
  const text = textOf(seed.token)
  const kind = textOf(seed.state) ?? 'valid'
  if (!text) return 'a token needs the member token'
  if (!isTokenState(kind)) return `state must be one of ${TOKEN_STATES.join(', ')}`
  const names = (list: JsonObject[string]) => listOf(list).flatMap(name => scalarOf(name) ?? [])
  const token: Token = {
    token: text,
    wabas: seed.wabas === undefined || seed.wabas === 'all' ? 'all' : new Set(names(seed.wabas)),
    scopes: new Set(seed.scopes === undefined ? ALL_SCOPES : names(seed.scopes)),
    state: kind,
    userId: scalarOf(seed.userId) ?? newId(state, USER_IDS),
    app: false
  }
  state.tokens.set(text, token)
  return token
}

/** Puts the seed of the options into a fresh state. */
export function plant(state: State, seed: Seed | undefined): void {
  for (const waba of seed?.wabas ?? []) addWaba(state, waba)
  for (const token of seed?.tokens ?? []) addToken(state, token)
}
