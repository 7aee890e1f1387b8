/** What the command line may ask of a service, and what is then done: the same beside a running service and without one. */
import { z } from 'zod'
import { systemClock } from '../actors/clock.ts'
import { newId, type Result, refuse } from '../actors/core.ts'
import type { Keys } from '../actors/keys.ts'
import { idPattern } from '../domain/ids.ts'
import { PERMISSIONS } from '../domain/tenant.ts'
import type { Views } from '../projections/port.ts'

const name = z.string().min(1).max(80)
const Create = z.strictObject({
  command: z.literal('keys create'),
  tenant: name,
  key: z.strictObject({
    name,
    permissions: z.array(z.enum(PERMISSIONS)).min(1).max(PERMISSIONS.length).exactOptional(),
    expiresAt: z.iso.datetime().exactOptional()
  })
})
const Revoke = z.strictObject({ command: z.literal('keys revoke'), keyId: z.string().regex(idPattern('key')) })
const Request = z.discriminatedUnion('command', [Create, Revoke])
const Named = z.object({ command: z.string() })
const COMMANDS: readonly string[] = [Create.shape.command.value, Revoke.shape.command.value]

export type ControlRequest = z.infer<typeof Request>
export type IssuedKey = { readonly tenantId: string; readonly keyId: string; readonly apiKey: string }
/** What commands need of the views. */
export type KeyViews = Pick<Views, 'tenantIds' | 'keys'>

/** Refused with `unknown_command` or `malformed_request` when it is none of ours. */
export function controlRequest(asked: unknown): Result<ControlRequest> {
  const request = Request.safeParse(asked).data
  if (request) return { ok: true, value: request }
  const named = Named.safeParse(asked).data
  return refuse(named && !COMMANDS.includes(named.command) ? 'unknown_command' : 'malformed_request')
}

/** `keys create` answers an IssuedKey, `keys revoke` null. */
export async function runControlCommand(
  request: ControlRequest,
  keys: Keys,
  views: KeyViews
): Promise<Result<unknown>> {
  if (request.command === 'keys create') return keys.issue(request.tenant, request.key)
  const { keyId } = request
  const isLive = (tenantId: string): boolean => views.keys(tenantId).some(key => key.id === keyId && !key.revoked)
  const tenantId = views.tenantIds().find(isLive)
  if (tenantId === undefined) return refuse('resource_not_found')
  return keys.revoke({ tenantId, trace: newId('tr', { clock: systemClock }) }, keyId)
}
