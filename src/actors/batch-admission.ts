/** Admission of many sends in one request: independent of each other, a commit's worth of them at a time. */
import { type Accepted, type AdmissionCore, createAdmission, notAddressable, type SendInput } from './admission.ts'
import { type Asker, askedBy, isUnavailable, ok, type Result, refuse } from './core.ts'
import type { Slices } from './slices.ts'

/** Each input has its own outcome in its own place; resolves when the last one is durable. */
export type SendMany = (
  asker: Asker,
  ref: string,
  inputs: readonly SendInput[]
) => Promise<Result<readonly Result<Accepted>[]>>

/** Items of one batch under way at once: a commit's worth. */
const ITEMS_AT_ONCE = 256

export function createBatchAdmission(core: AdmissionCore, slices: Slices): SendMany {
  const { channelOf, isForeign, admit } = createAdmission(core)

  return async (asker, ref, inputs) => {
    const channel = await channelOf(asker.tenantId, ref)
    if (!channel) return refuse('channel_not_found')
    const foreign = inputs.findIndex(({ to }) => isForeign(channel, to))
    if (foreign >= 0) return notAddressable(`messages[${foreign}].to`, `item ${foreign + 1}: `)
    /** Items of one recipient go one after the other, and so do two with the same key: their order is the client's. */
    const ofRecipient = new Map<string, Promise<unknown>>()
    const ofKey = new Map<string, Promise<unknown>>()
    const room = createRoom(ITEMS_AT_ONCE)
    const results: Promise<Result<Accepted>>[] = []
    const context = { ...askedBy(asker), isBulk: true }
    for (const input of inputs) {
      const full = room.enter()
      if (full) await full
      const turn = slices.next()
      if (turn) await turn
      const earlier = ofRecipient.get(input.to)
      const same = ofKey.get(input.idempotencyKey)
      const admitted =
        earlier || same
          ? Promise.all([earlier, same]).then(() => admit(asker, channel, input, context))
          : admit(asker, channel, input, context)
      const result = admitted.catch(error => (isUnavailable(error) ? refuse('overloaded') : Promise.reject(error)))
      const done = result.then(room.leave, room.leave)
      ofRecipient.set(input.to, done)
      ofKey.set(input.idempotencyKey, done)
      results.push(result)
    }
    return ok(await Promise.all(results))
  }
}

type Room = { enter(): Promise<void> | null; leave(): void }

/** Room for so many at once: `enter` is waited for when there is none. One asks at a time. */
function createRoom(places: number): Room {
  let free = places
  let wake: (() => void) | null = null
  return {
    enter() {
      free--
      return free >= 0 ? null : new Promise(resolve => (wake = resolve))
    },
    leave() {
      free++
      wake?.()
      wake = null
    }
  }
}
