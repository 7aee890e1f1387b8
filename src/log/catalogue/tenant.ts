import { z } from 'zod'
import { PERMISSIONS, type TenantEvent } from '../../domain/tenant.ts'
import { definitionsOf } from './definition.ts'
import { hex, id, text, time } from './fields.ts'

const stream = 'tenant-tn_…'
const url = text(2048)

export const destinationSecrets = z.strictObject({ secret: text(400).describe('signs the deliveries') })

export const tenantDefinitions = definitionsOf<TenantEvent>()({
  TenantCreated: {
    stream,
    by: 'cli, api',
    about: 'A tenant exists. First event of a tenant.',
    data: z.strictObject({ tenantId: id('tn'), name: text(400) })
  },
  ApiKeyCreated: {
    stream,
    by: 'cli, api',
    about: 'An API key was made. The key itself is never stored.',
    data: z.strictObject({
      keyId: id('key'),
      name: text(400),
      digest: hex(64).describe('SHA-256 of the key'),
      permissions: z.array(z.enum(PERMISSIONS)),
      lastFour: text(4),
      expiresAt: time.exactOptional()
    })
  },
  ApiKeyRevoked: {
    stream,
    by: 'cli, api',
    about: 'That key opens nothing any more.',
    data: z.strictObject({ keyId: id('key'), digest: hex(64) })
  },
  RiskAccepted: {
    stream,
    by: 'api',
    about: 'The tenant accepted the terms of a risk.',
    data: z.strictObject({ track: text(100), termsVersion: text(100) })
  },
  DestinationRegistered: {
    stream,
    by: 'api',
    about: "A webhook destination was admitted. Carries its whole creation; the destination's own stream follows.",
    data: z.strictObject({ destinationId: id('whd'), url }),
    sealed: destinationSecrets,
    key: 'tenant'
  },
  DestinationReaddressed: {
    stream,
    by: 'api',
    about: 'A destination takes another address in the register.',
    data: z.strictObject({ destinationId: id('whd'), url })
  },
  DestinationDeregistered: {
    stream,
    by: 'api',
    about: 'A destination left the register; its place and address are free.',
    data: z.strictObject({ destinationId: id('whd') })
  }
})
