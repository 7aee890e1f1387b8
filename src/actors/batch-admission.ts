/** Admission of many sends in one request: independent of each other, so many at a time. */
import type { ChannelRow } from '../projections/port.ts'
import { type Accepted, type AdmissionCore, createAdmission, notAddressable, type SendInput } from './admission.ts'
import { type Asker, askedBy, isUnavailable, ok, type Result, refuse } from './core.ts'
import { createRoom } from './room.ts'
import type { Slices } from './slices.ts'

/** Each input has its own outcome in its own place; resolves when the last one is durable. */
export type SendMany = (
  asker: Asker,
  ref: string,
  inputs: readonly SendInput[]
) => Promise<Result<readonly Result<Accepted>[]>>

/** So many items in a row that the log could not take: it will not take the rest of the batch either. */
const IN_VAIN_MAX = 16

export type BatchPace = {
  readonly slices: Slices
  /** Of all batches together. What the log does not take at once waits there, and after some time in vain. */
  readonly itemsAtOnce: number
  /** Called before each item is worked. */
  readonly onItem: () => void
}

export function createBatchAdmission(core: AdmissionCore, { slices, itemsAtOnce, onItem }: BatchPace): SendMany {
  const { channelOf, isForeign, admit } = createAdmission(core)
  const common = createRoom(itemsAtOnce)

  async function admitAll(asker: Asker, channel: ChannelRow, inputs: readonly SendInput[]) {
    const context = { ...askedBy(asker), isBulk: true }
    /** Items of one recipient go one after the other, and so do two with the same key: their order is the client's. */
    const ofRecipient = new Map<string, Promise<unknown>>()
    const ofKey = new Map<string, Promise<unknown>>()
    const results: Promise<Result<Accepted>>[] = []
    const failures: unknown[] = []
    /** Those that wait for an earlier one of their own batch take no place of the others'. */
    const own = createRoom(itemsAtOnce)
    let inVain = 0

    /** Never rejects: nobody waits for it before the last one is under way. */
    async function one(
      input: SendInput,
      earlier: Promise<unknown> | undefined,
      same: Promise<unknown> | undefined
    ): Promise<Result<Accepted>> {
      if (earlier) await earlier
      if (same) await same
      const full = common.enter()
      if (full) await full
      try {
        if (inVain >= IN_VAIN_MAX) return refuse('overloaded')
        onItem()
        const result = await admit(asker, channel, input, context)
        inVain = !result.ok && result.code === 'overloaded' ? inVain + 1 : 0
        return result
      } catch (error) {
        if (isUnavailable(error)) inVain++
        else failures.push(error)
        return refuse('overloaded')
      } finally {
        common.leave()
        own.leave()
      }
    }

    for (const input of inputs) {
      const full = own.enter()
      if (full) await full
      const turn = slices.next()
      if (turn) await turn
      const result = one(input, ofRecipient.get(input.to), ofKey.get(input.idempotencyKey))
      ofRecipient.set(input.to, result)
      ofKey.set(input.idempotencyKey, result)
      results.push(result)
    }
    const outcomes = await Promise.all(results)
    if (failures.length > 0) throw failures[0]
    return outcomes
  }

  return async (asker, ref, inputs) => {
    const channel = await channelOf(asker.tenantId, ref)
    if (!channel) return refuse('channel_not_found')
    const foreign = inputs.findIndex(({ to }) => isForeign(channel, to))
    if (foreign >= 0) return notAddressable(`messages[${foreign}].to`, `item ${foreign + 1}: `)
    return ok(await admitAll(asker, channel, inputs))
  }
}
