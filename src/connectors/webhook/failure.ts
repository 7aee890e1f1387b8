import { BLOCKED_CODE, UNRESOLVED_CODE } from './guard.ts'

/** Why a POST got no answer. */
export type PostError = 'timeout' | 'connection_refused' | 'dns' | 'blocked' | 'reset' | 'tls' | 'other'

const errorOfCode: Readonly<Record<string, PostError>> = {
  [BLOCKED_CODE]: 'blocked',
  [UNRESOLVED_CODE]: 'dns',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  EPROTO: 'tls',
  HOSTNAME_MISMATCH: 'tls'
}

/** Names what went wrong in a connection attempt or exchange, by the error's code alone: texts change. */
export const classifyFailure = (error: unknown): PostError => {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return 'other'
  const known = errorOfCode[code]
  if (known !== undefined) return known
  return /^ERR_(TLS|SSL)_|CERT|^UNABLE_TO_/.test(code) ? 'tls' : 'other'
}
