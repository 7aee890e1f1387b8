import { callerOf, may } from '../access.ts'
import { answer } from '../answer.ts'
import type { App } from '../app-types.ts'
import type { ServiceDoors } from '../ports.ts'
import { channel, createChannelBody } from '../schemas/channel.ts'
import { documented } from '../schemas/documented.ts'
import { bodyFailures } from '../schemas/failure.ts'
import { showChannel } from './present.ts'

/** `POST /v1/channels`: an official number, verified with the platform before anything is kept. */
export function createChannel(app: App, { channels }: ServiceDoors): void {
  const schema = {
    tags: ['Channels'],
    summary: 'Create an official channel',
    body: createChannelBody,
    response: {
      201: documented('The channel, connected.', channel),
      ...bodyFailures('credentials_rejected', 'waba_number_unavailable', 'conflict', 'provider_unavailable')
    }
  }
  app.post('/v1/channels', { onRequest: may('channels:write'), schema }, async (request, reply) => {
    const { label, credentials } = request.body
    const input = label === undefined ? { credentials } : { label, credentials }
    return answer(reply, await channels.createOfficial(callerOf(request), input), 201, showChannel)
  })
}
