import { isId } from '../../domain/ids.ts'
import { callerOf, may } from '../access.ts'
import { answer, answerEmpty, refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import { onePage } from '../page.ts'
import type { ServiceDoors } from '../ports.ts'
import { documented } from '../schemas/documented.ts'
import { bearerFailures, bodyFailures } from '../schemas/failure.ts'
import { nothing, page } from '../schemas/paging.ts'
import { destinationParams } from '../schemas/params.ts'
import { createDestinationBody, createdDestination, destination } from '../schemas/webhook.ts'
import { showDestination } from './present.ts'

const PATH = '/v1/webhooks/destinations'

/** `/v1/webhooks/destinations`: where events go. */
export function destinations(app: App, { webhooks }: ServiceDoors): void {
  const tags = ['Webhooks']
  const create = {
    tags,
    summary: 'Add a destination',
    description:
      'Every event of the workspace from then on is posted there, signed. In `message.received`, `from` is the phone ' +
      'number, or where that is hidden a user id or a hidden id, in the form that `to` takes; of a reaction, ' +
      '`targetMessageId` is null when it is to a message that this service does not know.',
    body: createDestinationBody,
    response: {
      201: createdDestination,
      ...bodyFailures('outbound_address_blocked', 'webhook_endpoint_limit', 'webhook_endpoint_url_taken', 'conflict')
    }
  }
  app.post(PATH, { onRequest: may('webhooks:write'), schema: create }, async (request, reply) => {
    const result = await webhooks.createDestination(callerOf(request), request.body)
    return answer(reply, result, 201, created => ({ ...showDestination(created), secret: created.secret }))
  })

  const list = {
    tags,
    summary: 'List destinations',
    response: { 200: page(destination, 'All destinations.'), ...bearerFailures() }
  }
  app.get(PATH, { onRequest: may('webhooks:read'), schema: list }, async request => {
    const rows = await webhooks.destinations(callerOf(request))
    return onePage(rows.map(showDestination))
  })

  const failures = bearerFailures('resource_not_found')
  const read = {
    tags,
    summary: 'Read a destination',
    params: destinationParams,
    response: { 200: documented('The destination.', destination), ...failures }
  }
  app.get(`${PATH}/:id`, { onRequest: may('webhooks:read'), schema: read }, async (request, reply) => {
    const { id } = request.params
    if (!isId('whd', id)) return refuse(reply, 'resource_not_found')
    return answer(reply, await webhooks.destination(callerOf(request), id), 200, showDestination)
  })

  const remove = {
    tags,
    summary: 'Remove a destination',
    params: destinationParams,
    response: { 204: nothing, ...failures }
  }
  app.delete(`${PATH}/:id`, { onRequest: may('webhooks:write'), schema: remove }, async (request, reply) => {
    const { id } = request.params
    if (!isId('whd', id)) return refuse(reply, 'resource_not_found')
    return answerEmpty(reply, await webhooks.removeDestination(callerOf(request), id))
  })
}
