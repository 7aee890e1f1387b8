import { isId } from '../../domain/ids.ts'
import { DEFAULT_PERMISSIONS } from '../../domain/tenant.ts'
import { callerOf, may } from '../access.ts'
import { answer, answerEmpty, refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import { onePage } from '../page.ts'
import type { ServiceDoors } from '../ports.ts'
import { bearerFailures, bodyFailures } from '../schemas/failure.ts'
import { apiKey, createdKey, createKeyBody } from '../schemas/key.ts'
import { nothing, page } from '../schemas/paging.ts'
import { keyParams } from '../schemas/params.ts'
import { showKey } from './present.ts'

/** `/v1/keys`: the workspace's API keys. */
export function keys(app: App, doors: ServiceDoors, now: () => number): void {
  const onRequest = may('keys:write')
  const tags = ['Keys']
  const create = {
    tags,
    summary: 'Create a key',
    body: createKeyBody,
    response: { 201: createdKey, ...bodyFailures('conflict') }
  }
  app.post('/v1/keys', { onRequest, schema: create }, async (request, reply) => {
    const caller = callerOf(request)
    const { expiresAt, ...input } = request.body
    if (expiresAt !== undefined && Date.parse(expiresAt) <= now()) {
      return refuse(reply, 'validation_failed', [{ path: 'expiresAt', message: 'must be in the future' }])
    }
    // A key grants only what it has itself (decisions §2); that is a question of permission, not of shape.
    const granted = input.permissions ?? DEFAULT_PERMISSIONS
    if (!granted.every(permission => caller.permissions.includes(permission))) return refuse(reply, 'forbidden')
    const expiry = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }
    const result = await doors.keys.create(caller, { ...input, ...expiry })
    return answer(reply, result, 201, created => ({ ...showKey(created), apiKey: created.apiKey }))
  })

  const list = { tags, summary: 'List keys', response: { 200: page(apiKey, 'All live keys.'), ...bearerFailures() } }
  app.get('/v1/keys', { onRequest, schema: list }, async request => {
    const rows = await doors.keys.list(callerOf(request))
    return onePage(rows.filter(row => !row.revoked).map(showKey))
  })

  const revoke = {
    tags,
    summary: 'Revoke a key',
    params: keyParams,
    response: { 204: nothing, ...bearerFailures('resource_not_found') }
  }
  app.delete('/v1/keys/:id', { onRequest, schema: revoke }, async (request, reply) => {
    const { id } = request.params
    if (!isId('key', id)) return refuse(reply, 'resource_not_found')
    return answerEmpty(reply, await doors.keys.revoke(callerOf(request), id))
  })
}
