import { z } from 'zod'
import type { ClaimEvent } from '../../domain/claim.ts'
import { channelCreation, channelSecrets } from './channel.ts'
import { definitionsOf } from './definition.ts'
import { id, text } from './fields.ts'

const stream = 'claim-…'

export const claimDefinitions = definitionsOf<ClaimEvent>()({
  NumberClaimed: {
    stream,
    by: 'api, supervisor',
    about:
      'A number belongs to this channel. Carries the whole creation, so that a crash in between is completed later.',
    data: z.strictObject({ creation: channelCreation }),
    sealed: channelSecrets,
    key: 'tenant'
  },
  NumberReleased: {
    stream,
    by: 'api, supervisor',
    about: 'The number is free again: its channel was deleted.',
    data: z.strictObject({ channelId: id('ch') })
  },
  TenantNamed: {
    stream,
    by: 'cli, api',
    about: 'A name belongs to this tenant.',
    data: z.strictObject({ tenantId: id('tn'), name: text(400) })
  }
})
