import { callerOf, may } from '../access.ts'
import type { App } from '../app-types.ts'
import { ask } from '../page.ts'
import type { ServiceDoors } from '../ports.ts'
import { bearerFailures } from '../schemas/failure.ts'
import { messagesQuery } from '../schemas/message-query.ts'
import { metrics, metricsQuery } from '../schemas/metrics.ts'
import { page } from '../schemas/paging.ts'
import { listedMessage } from '../schemas/tracking.ts'
import { showListedMessage, showMetrics } from './present.ts'

/** `GET /v1/messages` and `GET /v1/messages/metrics` */
export function listMessages(app: App, { messages }: ServiceDoors): void {
  const onRequest = may('messages:read')
  const list = {
    tags: ['Messages'],
    summary: 'List messages',
    querystring: messagesQuery,
    response: { 200: page(listedMessage, 'Newest first.'), ...bearerFailures('validation_failed') }
  }
  app.get('/v1/messages', { onRequest, schema: list }, async request => {
    const { limit, cursor, ...filter } = request.query
    const { items, nextCursor } = await ask('cursor', () => messages.list(callerOf(request), filter, { limit, cursor }))
    return { items: items.map(showListedMessage), nextCursor }
  })

  const count = {
    tags: ['Messages'],
    summary: 'Counts of the pipeline',
    querystring: metricsQuery,
    response: { 200: metrics, ...bearerFailures('validation_failed') }
  }
  app.get('/v1/messages/metrics', { onRequest, schema: count }, async request =>
    showMetrics(await messages.metrics(callerOf(request), request.query.window))
  )
}
