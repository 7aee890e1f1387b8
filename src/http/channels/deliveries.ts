import { isId } from '../../domain/ids.ts'
import { callerOf, may } from '../access.ts'
import { answer, refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import { ask } from '../page.ts'
import type { ServiceDoors } from '../ports.ts'
import { documented } from '../schemas/documented.ts'
import { bearerFailures } from '../schemas/failure.ts'
import { page } from '../schemas/paging.ts'
import { deliveryParams } from '../schemas/params.ts'
import { deliveriesQuery, delivery } from '../schemas/webhook.ts'
import { showDelivery } from './present.ts'

/** `GET /v1/webhooks/deliveries`, `POST /v1/webhooks/deliveries/:id/retry` */
export function deliveries(app: App, { webhooks }: ServiceDoors): void {
  const schema = {
    tags: ['Webhooks'],
    summary: 'List deliveries',
    querystring: deliveriesQuery,
    response: { 200: page(delivery, 'Newest first.'), ...bearerFailures('validation_failed') }
  }
  app.get('/v1/webhooks/deliveries', { onRequest: may('webhooks:read'), schema }, async request => {
    const { limit, cursor, ...filter } = request.query
    const { items, nextCursor } = await ask('cursor', () =>
      webhooks.deliveries(callerOf(request), filter, { limit, cursor })
    )
    return { items: items.map(showDelivery), nextCursor }
  })

  const retry = {
    tags: ['Webhooks'],
    summary: 'Try a dead delivery again',
    description: 'One that waits already is answered as it is; 422 when it is delivered, or its destination disabled.',
    params: deliveryParams,
    response: {
      200: documented('The delivery, pending again.', delivery),
      ...bearerFailures('validation_failed', 'resource_not_found')
    }
  }
  const onRequest = may('webhooks:write')
  app.post('/v1/webhooks/deliveries/:id/retry', { onRequest, schema: retry }, async (request, reply) => {
    const { id } = request.params
    if (!isId('dlv', id)) return refuse(reply, 'resource_not_found')
    return answer(reply, await webhooks.retryDelivery(callerOf(request), id), 200, showDelivery)
  })
}
