import { z } from 'zod'
import type { ChannelEvent } from '../../domain/channel.ts'
import { definitionsOf } from './definition.ts'
import { count, id, phoneNumber, text, time, word } from './fields.ts'

const stream = 'channel-ch_…'
const nothing = z.strictObject({})
const source = z.enum(['connect', 'reconnect', 'disconnect', 'supervisor', 'webhook', 'register', 'admin', 'system'])

export const label = text(400)

export const session = z.strictObject({
  name: text(200),
  baseUrl: text(2048),
  engine: text(40),
  own: z.boolean().describe("the tenant's own instance, not one of the pool")
})

const creationShape = {
  channelId: id('ch'),
  tenantId: id('tn'),
  kind: z.enum(['official', 'unofficial']),
  label: label.nullable(),
  number: phoneNumber.nullable(),
  phoneNumberId: text(100).exactOptional(),
  wabaId: text(100).exactOptional(),
  platformAppId: text(100).exactOptional(),
  session: session.exactOptional(),
  attemptId: id('cxn').exactOptional().describe('the pairing that it came from'),
  source
}

export const channelCreation = z.strictObject(creationShape)

export const channelSecrets = z.strictObject({
  accessToken: text(4096).exactOptional(),
  platformAppSecret: text(1024).exactOptional(),
  instanceApiKey: text(1024).exactOptional()
})

export const channelDefinitions = definitionsOf<ChannelEvent>()({
  ChannelConnected: {
    stream,
    by: 'api, supervisor',
    about: 'The number exists and is connected. First event of a channel.',
    data: z.strictObject({
      ...creationShape,
      quarantineUntil: time.exactOptional().describe('end of the onboarding containment')
    }),
    sealed: channelSecrets,
    key: 'tenant'
  },
  ChannelReconnecting: {
    stream,
    by: 'api',
    about: 'Its owner connects it again; the session is on its way.',
    data: z.strictObject({ source, session: session.exactOptional() })
  },
  ChannelReconnected: {
    stream,
    by: 'supervisor, callback, api',
    about: 'It works again.',
    data: z.strictObject({ source, number: phoneNumber.exactOptional() })
  },
  ChannelWentDown: {
    stream,
    by: 'supervisor, callback',
    about: 'Its session dropped or did not come up. Admission goes on, dispatch waits.',
    data: z.strictObject({ source, reason: word })
  },
  ChannelDisconnected: {
    stream,
    by: 'api',
    about: 'Its owner disconnected it. Sends are refused.',
    data: z.strictObject({ source })
  },
  ChannelDeleted: {
    stream,
    by: 'api',
    about: 'Its owner deleted it. Final; the claim of its number is released.',
    data: z.strictObject({ source })
  },
  ChannelRenamed: { stream, by: 'api', about: 'It has another label.', data: z.strictObject({ label }) },
  ChannelCredentialsRotated: {
    stream,
    by: 'api',
    about: 'An official number has new credentials; trouble with the old ones is over.',
    data: z.strictObject({ platformAppId: text(100).exactOptional() }),
    sealed: channelSecrets,
    key: 'tenant'
  },
  ChannelTroubleRecorded: {
    stream,
    by: 'dispatcher, supervisor',
    about: 'The number, not a message, is refused: dispatch waits although it is connected.',
    data: z.strictObject({ code: word })
  },
  ChannelTroubleCleared: {
    stream,
    by: 'dispatcher, supervisor',
    about: 'That trouble is over; dispatch resumes.',
    data: nothing
  },
  ChannelLimited: {
    stream,
    by: 'dispatcher',
    about: 'The breaker: a burst of delivery failures stops all sending until it is released.',
    data: z.strictObject({ failures: count, windowSeconds: z.number().min(0) })
  },
  ChannelLimitReleased: {
    stream,
    by: 'api',
    about: 'Its owner released the breaker and accepted the risk.',
    data: z.strictObject({ termsVersion: text(100) })
  },
  ChannelRestricted: {
    stream,
    by: 'callback, dispatcher',
    about: 'The platform blocks conversations with new contacts.',
    data: z.strictObject({
      code: text(100).describe("our word, or the platform's own"),
      until: time.exactOptional().describe('absent: until the platform lifts it')
    })
  },
  ChannelRestrictionLifted: { stream, by: 'callback', about: 'The platform lifted the restriction.', data: nothing },
  ChannelQuarantineReleased: {
    stream,
    by: 'api',
    about: 'Its owner ended the onboarding containment early.',
    data: z.strictObject({ reason: text(1000).exactOptional() })
  }
})
