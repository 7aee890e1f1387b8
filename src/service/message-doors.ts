/** What HTTP may do with messages, put together from the actors behind it. */
import { createAdmission } from '../actors/admission.ts'
import type { Core } from '../actors/core.ts'
import { createMessageList } from '../actors/message-list.ts'
import { createRenotify } from '../actors/renotify.ts'
import { createTracking } from '../actors/tracking.ts'
import type { ServiceDoors } from '../http/ports.ts'
import type { BatchHost } from './batch-host.ts'

export function messageDoors(core: Core, batches: Pick<BatchHost, 'work' | 'singleCame'>): ServiceDoors['messages'] {
  const { own } = core
  const { send } = createAdmission(core)
  const { list, metrics, toFilter } = createMessageList(core)
  const renotify = createRenotify(core, { toFilter })
  const { track } = createTracking(core)
  return {
    send(asker, ref, input) {
      batches.singleCame()
      return send(asker, ref, input)
    },
    async sendBatch({ tenantId, trace }, ref, body) {
      // The other thread hears of pages after this one: what is settled here is there, when the batch comes to it.
      const waiting = own.configurationSettled(tenantId)
      if (waiting) await waiting
      const { result, written } = await batches.work({ tenantId, trace }, ref, body)
      own.wrote(tenantId, written)
      if ('broken' in result) throw new Error(result.broken)
      return result
    },
    track,
    list,
    metrics,
    renotify: renotify.one,
    renotifyMany: renotify.many
  }
}
