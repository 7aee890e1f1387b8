import { callerOf, may } from '../access.ts'
import type { App } from '../app-types.ts'
import { ask } from '../page.ts'
import type { ServiceDoors } from '../ports.ts'
import { bearerFailures } from '../schemas/failure.ts'
import { page } from '../schemas/paging.ts'
import { deliveriesQuery, delivery } from '../schemas/webhook.ts'
import { showDelivery } from './present.ts'

/** `GET /v1/webhooks/deliveries` */
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
}
