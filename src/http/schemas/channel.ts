import { z } from 'zod'
import { label, secret, text, timestamp } from './text.ts'

const platformId = z.string().regex(/^[0-9A-Za-z_-]{1,64}$/, 'must be an id of the platform')

/** Write-only: encrypted, never shown again. */
const credentials = {
  accessToken: secret(4096),
  platformAppId: platformId.exactOptional(),
  platformAppSecret: secret(256).exactOptional()
}

/** Creation of an official number. */
export const createChannelBody = z
  .strictObject({
    provider: z.literal('official_platform'),
    kind: z.literal('official'),
    label: label.exactOptional(),
    credentials: z
      .strictObject({
        phoneNumberId: platformId,
        wabaId: platformId,
        ...credentials
      })
      .describe('Encrypted, never shown again.')
  })
  .meta({
    examples: [
      {
        provider: 'official_platform',
        kind: 'official',
        label: 'Support',
        credentials: { phoneNumberId: '106540352242922', wabaId: '102290129340398', accessToken: 'EAAB…' }
      }
    ]
  })

export const renameBody = z.strictObject({ label })

export const rotateCredentialsBody = z
  .strictObject(credentials)
  .describe('Encrypted, never shown again. An app secret that is left out stays as it is.')

export const releaseLimitBody = z
  .strictObject({ riskAcceptance: z.strictObject({ termsVersion: text(1, 64) }).exactOptional() })
  .meta({ examples: [{ riskAcceptance: { termsVersion: 'limited-release-v1' } }] })

/** May be left out. */
export const releaseQuarantineBody = z.strictObject({ reason: text(1, 256).exactOptional() }).nullable()

const flag = { active: z.boolean(), until: timestamp.nullable() }
const view = {
  id: z.string(),
  kind: z.enum(['official', 'unofficial']),
  provider: z.enum(['official_platform', 'unofficial_platform']),
  state: z.enum(['connecting', 'connected', 'down', 'disconnected', 'deleted']),
  label: z.string().nullable(),
  number: z.string().nullable(),
  engine: z.enum(['webjs', 'noweb', 'gows']).nullable(),
  lastError: z.string().nullable(),
  stateChangedAt: timestamp.nullable(),
  limited: z.object({ active: z.boolean(), since: timestamp.nullable() }),
  restricted: z.object(flag),
  quarantine: z.object(flag).exactOptional().describe('Only where the deployment has the feature on.')
}
const tags = z.array(z.object({ id: z.string(), name: z.string(), color: z.string().nullable() }))

export const channel = z.object(view).meta({ id: 'Channel', description: 'A number.' })

export const channelWithTags = z
  .object({ ...view, tags })
  .meta({ id: 'ChannelDetail', description: 'A number and its tags.' })

export const listedChannel = z
  .object({
    ...view,
    tags,
    phoneNumberId: z.string().nullable(),
    rateLimitPerMinute: z.number(),
    health: z
      .object({
        score: z.number(),
        tier: z.enum(['good', 'fair', 'poor']),
        funnel: z.object({ sent: z.int(), delivered: z.int(), read: z.int(), failed: z.int() }),
        reasons: z.array(
          z.object({
            code: z.string(),
            label: z.string(),
            detail: z.string(),
            severity: z.enum(['info', 'warning', 'critical'])
          })
        )
      })
      .nullable()
  })
  .meta({ id: 'ChannelListItem', description: 'A number as the list shows it.' })

export const auditEvent = z
  .object({
    id: z.string(),
    kind: z.enum(['state', 'label', 'credentials', 'flag', 'tag', 'number']),
    fromState: z.string().nullable(),
    toState: z.string().nullable(),
    reason: z.string().nullable(),
    source: z.string(),
    activeNumber: z.string().nullable(),
    createdAt: timestamp,
    traceId: z.string().nullable()
  })
  .meta({ id: 'AuditEvent', description: 'Something that happened to a number.' })
