import { isId } from '../../domain/ids.ts'
import { callerOf, may } from '../access.ts'
import { answer, refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import type { ServiceDoors } from '../ports.ts'
import { channel, releaseLimitBody, releaseQuarantineBody, rotateCredentialsBody } from '../schemas/channel.ts'
import { documented } from '../schemas/documented.ts'
import { bodyFailures } from '../schemas/failure.ts'
import { channelParams } from '../schemas/params.ts'
import { showChannel } from './present.ts'

const answers = documented('The channel as it is now.', channel)

/** What lets a stopped queue go on: `POST …/limited/release`, `…/quarantine/release`, `…/credentials`. */
export function releaseChannel(app: App, { channels }: ServiceDoors): void {
  const onRequest = may('channels:write')
  const limit = {
    tags: ['Channels'],
    summary: 'Release a limited channel',
    description: 'Takes the risk of further failures; a channel that is not limited stays as it is.',
    params: channelParams,
    body: releaseLimitBody,
    response: { 200: answers, ...bodyFailures('risk_acceptance_required', 'channel_not_found', 'conflict') }
  }
  app.post('/v1/channels/:id/limited/release', { onRequest, schema: limit }, async (request, reply) => {
    const { id } = request.params
    if (!isId('ch', id)) return refuse(reply, 'channel_not_found')
    const terms = request.body.riskAcceptance?.termsVersion ?? null
    return answer(reply, await channels.releaseLimit(callerOf(request), id, terms), 200, showChannel)
  })

  const quarantine = {
    tags: ['Channels'],
    summary: 'End the quarantine of a channel early',
    params: channelParams,
    body: releaseQuarantineBody,
    response: { 200: answers, ...bodyFailures('channel_not_found', 'conflict') }
  }
  app.post('/v1/channels/:id/quarantine/release', { onRequest, schema: quarantine }, async (request, reply) => {
    const { id } = request.params
    if (!isId('ch', id)) return refuse(reply, 'channel_not_found')
    const reason = request.body?.reason ?? null
    return answer(reply, await channels.releaseQuarantine(callerOf(request), id, reason), 200, showChannel)
  })

  const rotate = {
    tags: ['Channels'],
    summary: 'Rotate the credentials of an official channel',
    description: 'They are verified with the platform before they are kept. What waited for better ones goes on.',
    params: channelParams,
    body: rotateCredentialsBody,
    response: {
      200: answers,
      ...bodyFailures(
        'credentials_rejected',
        'unsupported_capability',
        'channel_not_found',
        'conflict',
        'provider_unavailable'
      )
    }
  }
  app.post('/v1/channels/:id/credentials', { onRequest, schema: rotate }, async (request, reply) => {
    const { id } = request.params
    if (!isId('ch', id)) return refuse(reply, 'channel_not_found')
    return answer(reply, await channels.rotateCredentials(callerOf(request), id, request.body), 200, showChannel)
  })
}
