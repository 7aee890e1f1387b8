/** What HTTP may do with messages, put together from the actors behind it. */
import { createAdmission } from '../actors/admission.ts'
import type { Core } from '../actors/core.ts'
import { createMessageList } from '../actors/message-list.ts'
import { createRenotify } from '../actors/renotify.ts'
import { createTracking } from '../actors/tracking.ts'
import type { ServiceDoors } from '../http/ports.ts'

export function messageDoors(core: Core): ServiceDoors['messages'] {
  const { send, sendMany } = createAdmission(core)
  const { list, metrics, toFilter } = createMessageList(core)
  const renotify = createRenotify(core, { toFilter })
  const { track } = createTracking(core)
  return { send, sendMany, track, list, metrics, renotify: renotify.one, renotifyMany: renotify.many }
}
