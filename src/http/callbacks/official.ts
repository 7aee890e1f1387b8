import { z } from 'zod'
import { refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import type { ServiceDoors } from '../ports.ts'
import { documented } from '../schemas/documented.ts'
import { failures } from '../schemas/failure.ts'
import { answerCallback, bytesOf, only } from './exchange.ts'

const CHALLENGE_MAX = 4096

/** `/webhooks/official`: the platform's handshake and its events. */
export function officialCallbacks(app: App, { callbacks }: ServiceDoors): void {
  const handshake = {
    tags: ['Callbacks'],
    summary: 'Handshake of the official platform',
    security: [],
    querystring: z.object({
      'hub.mode': z.unknown().optional().describe('`subscribe`'),
      'hub.verify_token': z.unknown().optional().describe('A verify token of this service.'),
      'hub.challenge': z.unknown().optional().describe('Echoed.')
    }),
    response: {
      200: { description: 'The challenge.', content: { 'text/plain': { schema: z.string() } } },
      ...failures('forbidden')
    }
  }
  app.get('/webhooks/official', { schema: handshake }, async ({ query }, reply) => {
    const token = query['hub.verify_token']
    const challenge = query['hub.challenge']
    const isAsked = query['hub.mode'] === 'subscribe' && typeof token === 'string' && callbacks.knowsVerifyToken(token)
    if (!isAsked || typeof challenge !== 'string' || challenge.length > CHALLENGE_MAX) return refuse(reply, 'forbidden')
    return reply.type('text/plain; charset=utf-8').serializer(String).send(challenge)
  })

  const events = {
    tags: ['Callbacks'],
    summary: 'Events of the official platform',
    description: 'Up to 4 MB, signed in `X-Hub-Signature-256`. Answered when every known update is on record.',
    security: [],
    response: {
      200: documented('Every known update is on record.', z.object({})),
      ...failures('malformed_json', 'invalid_signature', 'payload_too_large', 'overloaded')
    }
  }
  app.post('/webhooks/official', { schema: events }, async (request, reply) => {
    const signature = only(request.headers['x-hub-signature-256'])
    const { status } = await callbacks.official(bytesOf(request.body), signature, request.id)
    return answerCallback(reply, status)
  })
}
