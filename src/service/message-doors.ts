/** What HTTP may do with messages, put together from the actors behind it. */
import { createAdmission } from '../actors/admission.ts'
import type { Core } from '../actors/core.ts'
import { createMessageList } from '../actors/message-list.ts'
import { createRenotify } from '../actors/renotify.ts'
import { createSlices } from '../actors/slices.ts'
import { createTracking } from '../actors/tracking.ts'
import type { ServiceDoors } from '../http/ports.ts'

/**
 * What all batches together begin in one turn of the event loop; as much again follows from it, and single sends have
 * their turns in between. Longer slices make no batch faster (measured from 0.5 to 4 ms), but single sends slower.
 */
const SLICE_MS = 0.5

export function messageDoors(core: Core): ServiceDoors['messages'] {
  const slices = createSlices(SLICE_MS)
  const { send, sendMany } = createAdmission(core, slices)
  const { list, metrics, toFilter } = createMessageList(core)
  const renotify = createRenotify(core, { toFilter })
  const { track } = createTracking(core)
  return {
    send,
    sendMany,
    nextSlice: slices.next,
    track,
    list,
    metrics,
    renotify: renotify.one,
    renotifyMany: renotify.many
  }
}
