import type { CallResult } from '../connectors/port.ts'
import { type Result, refuse } from './core.ts'

/** What a client hears when the platform does not take credentials, or does not answer (decisions §2). */
export function refusedByPlatform(result: Exclude<CallResult<unknown>, { kind: 'ok' }>): Result<never> {
  return refuse(result.kind === 'unavailable' ? 'provider_unavailable' : 'credentials_rejected')
}
