import { z } from 'zod'
import type { AttemptEvent } from '../../domain/attempt.ts'
import { label, session } from './channel.ts'
import { definitionsOf } from './definition.ts'
import { id, phoneNumber, text, time, word } from './fields.ts'

const stream = 'attempt-cxn_…'
const nothing = z.strictObject({})
const promotion = z.strictObject({ channelId: id('ch'), number: phoneNumber })

export const attemptDefinitions = definitionsOf<AttemptEvent>()({
  AttemptStarted: {
    stream,
    by: 'api',
    about: 'A pairing of an unofficial number began.',
    data: z.strictObject({
      attemptId: id('cxn'),
      tenantId: id('tn'),
      label: label.nullable(),
      session,
      expiresAt: time,
      termsVersion: text(100).describe('the risk terms that were accepted')
    }),
    sealed: z.strictObject({
      instanceApiKey: text(1024).exactOptional(),
      declaredNumber: text(40).exactOptional()
    }),
    key: 'tenant'
  },
  AttemptQrOffered: {
    stream,
    by: 'supervisor, callback',
    about: 'The provider offers a QR to scan. The QR itself is a login secret and is never recorded.',
    data: nothing
  },
  AttemptPaired: {
    stream,
    by: 'supervisor, callback',
    about: 'The phone confirmed. From here on it cannot be cancelled; claim and channel follow.',
    data: promotion
  },
  AttemptConnected: {
    stream,
    by: 'supervisor',
    about: 'The channel exists and can be read. Final.',
    data: promotion
  },
  AttemptFailed: {
    stream,
    by: 'api, supervisor',
    about: 'The instance refused, or the number is in use. Final.',
    data: z.strictObject({ code: word })
  },
  AttemptExpired: { stream, by: 'timers', about: 'Nobody paired in time. Final.', data: nothing },
  AttemptCancelled: { stream, by: 'api', about: 'Its owner discarded it. Final.', data: nothing }
})
