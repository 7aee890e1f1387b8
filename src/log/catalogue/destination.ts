import { z } from 'zod'
import type { DestinationEvent } from '../../domain/destination.ts'
import { definitionsOf } from './definition.ts'
import { id, text } from './fields.ts'
import { destinationSecrets } from './tenant.ts'

const stream = 'destination-whd_…'
const url = text(2048)
const secretLast4 = text(4)

export const destinationDefinitions = definitionsOf<DestinationEvent>()({
  DestinationCreated: {
    stream,
    by: 'api',
    about: 'A webhook destination exists and is enabled. First event of a destination.',
    data: z.strictObject({ destinationId: id('whd'), tenantId: id('tn'), url, secretLast4 }),
    sealed: destinationSecrets,
    key: 'tenant'
  },
  DestinationChanged: {
    stream,
    by: 'api',
    about: 'It has another address, or was switched on or off.',
    data: z.strictObject({ url: url.exactOptional(), enabled: z.boolean().exactOptional() })
  },
  DestinationSecretRotated: {
    stream,
    by: 'api',
    about: 'It has a new secret; the old one signs along for 24 hours.',
    data: z.strictObject({ secretLast4 }),
    sealed: destinationSecrets,
    key: 'tenant'
  },
  DestinationDisabled: {
    stream,
    by: 'deliverer',
    about: 'We stopped delivering: the receiver said 410 (`gone`), or failed for 72 h (`failing`).',
    data: z.strictObject({ reason: z.enum(['gone', 'failing']) })
  },
  DestinationRemoved: { stream, by: 'api', about: 'It was deleted. Final.', data: z.strictObject({}) }
})
