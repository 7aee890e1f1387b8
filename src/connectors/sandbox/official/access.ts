import { refuse } from './errors.ts'
import type { PhoneNumber, State, Token, Waba } from './state.ts'
import type { Answer } from './wire.ts'

export const MESSAGING = 'whatsapp_business_messaging'
export const MANAGEMENT = 'whatsapp_business_management'
export const BUSINESS = 'business_management'
export const ALL_SCOPES = [MESSAGING, MANAGEMENT, BUSINESS]

const DEAD: Record<string, readonly [subcode: number, message: string]> = {
  expired: [463, 'Error validating access token: Session has expired'],
  password_changed: [
    460,
    'Error validating access token: The session has been invalidated because the password changed'
  ],
  revoked: [467, 'Error validating access token: This may be because the user logged out or revoked access']
}

export const isToken = (value: Token | Answer): value is Token => 'scopes' in value

/** Takes the token from the header, else from the query, and refuses what is not alive. */
export function authenticate(state: State, header: string | undefined, inQuery: string | null): Token | Answer {
  const text = header?.replace(/^(Bearer|OAuth) +/i, '') ?? inQuery
  if (!text) return refuse(104)
  if (text === `${state.appId}|${state.appSecret}`) {
    return { token: text, wabas: new Set(), scopes: new Set(), state: 'valid', userId: '', app: true }
  }
  const token = state.tokens.get(text)
  if (!token) return refuse(190)
  const dead = DEAD[token.state]
  return dead ? refuse(190, undefined, { subcode: dead[0], message: dead[1] }) : token
}

export const sees = (token: Token, wabaId: string): boolean => token.wabas === 'all' || token.wabas.has(wabaId)

export function visibleNumber(state: State, token: Token, id: string): PhoneNumber | undefined {
  const number = state.numbers.get(id)
  return number && sees(token, number.wabaId) ? number : undefined
}

export function visibleWaba(state: State, token: Token, id: string): Waba | undefined {
  const waba = state.wabas.get(id)
  return waba && sees(token, waba.id) ? waba : undefined
}

/** Null when the token has the permission. */
export function lacks(token: Token, scope: string): Answer | null {
  if (token.scopes.has(scope)) return null
  return scope === MESSAGING
    ? refuse(10, `The permission ${scope} is missing.`)
    : refuse(200, undefined, { message: `(#200) Requires ${scope} permission to manage the object` })
}
