/** A batch from the bytes of its body to the bytes of its answer: work of one piece, for a thread of its own. */
import { isId } from '../domain/ids.ts'
import { checkBatch } from './batch-body.ts'
import { parseJson } from './body.ts'
import { type ErrorCode, isErrorCode, RequestRefused } from './errors.ts'
import type { Accepted, Caller, Refusal, Result, SendInput } from './ports.ts'
import { isPhone } from './schemas/address.ts'
import type { BatchItem } from './schemas/batch.ts'

/** Refusals of a single item stand in its place; those are all that one can meet at admission. */
export const ITEM_CODES = [
  'channel_limited',
  'channel_quarantined',
  'channel_restricted',
  'channel_disconnected',
  'unsupported_capability',
  'outbound_address_blocked',
  'conflict',
  'overloaded',
  'internal_error'
] as const satisfies readonly ErrorCode[]

export type Sender = Pick<Caller, 'tenantId' | 'trace'>

export type BatchWorkOptions = {
  /** One outcome per input, in order; resolves when the last one is durable. */
  readonly sendMany: (
    sender: Sender,
    ref: string,
    inputs: readonly SendInput[]
  ) => Promise<Result<readonly Result<Accepted>[]>>
  /** Null while work on batches may go on, else when it may: other batches have their turns. */
  readonly nextSlice: () => Promise<void> | null
}

/** The body of a 202, or the refusal of the whole batch. Rejects with what nobody foresaw. */
export type BatchWork = (sender: Sender, ref: string, body: Buffer) => Promise<Result<Uint8Array>>

export function createBatchWork({ sendMany, nextSlice }: BatchWorkOptions): BatchWork {
  return async (sender, ref, body) => {
    try {
      const items = await checkBatch(parseJson(body), nextSlice)
      if (!isId('ch', ref) && !isPhone(ref)) return refuse('channel_not_found')
      const result = await sendMany(sender, ref, items)
      if (!result.ok) return result
      const results = result.value.map((outcome, index) => show(outcome, items[index], index))
      return { ok: true, value: new TextEncoder().encode(JSON.stringify({ results })) }
    } catch (error) {
      if (error instanceof RequestRefused) return refuse(error.code, error.details)
      throw error
    }
  }
}

const refuse = (code: string, details?: Refusal['details']): Refusal =>
  details === undefined ? { ok: false, code } : { ok: false, code, details }

function show(outcome: Result<Accepted>, item: BatchItem | undefined, index: number) {
  const idempotencyKey = item?.idempotencyKey
  if (outcome.ok) return { idempotencyKey, index, messageId: outcome.value.messageId, status: 'accepted' }
  // A code outside the table is a defect, yet the other items of the batch are on record by now.
  return { idempotencyKey, index, error: { code: isErrorCode(outcome.code) ? outcome.code : 'internal_error' } }
}
