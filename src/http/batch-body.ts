/**
 * The body of a batch, checked item by item: one schema over the whole of it would hold the event loop for tens of
 * milliseconds, and other batches would wait behind it.
 */
import { type Detail, RequestRefused } from './errors.ts'
import { type Flaw, findFlaws } from './flaws.ts'
import { type BatchItem, batchEnvelope, batchItem } from './schemas/batch.ts'
import { detail, detailsOf } from './validation.ts'

/** Values in one item, or around all of them: well past what any valid one has, and soon checked. */
const VALUES_MAX = 512

/**
 * The items of a batch, all of them well-formed; else 422 with the problems of the first that is not, which are named by
 * its position (channel-service, batch rules 1 and 2).
 */
export async function checkBatch(body: unknown, nextSlice: () => Promise<void> | null): Promise<readonly BatchItem[]> {
  const messages = checkEnvelope(body)
  const items: BatchItem[] = []
  for (const [index, message] of messages.entries()) {
    const turn = nextSlice()
    if (turn) await turn
    items.push(checkItem(message, index))
  }
  return items
}

function checkEnvelope(body: unknown): readonly unknown[] {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
    // Thousands of members are refused before anything is done with each of them.
    const isCrowded = Object.keys(body).length > VALUES_MAX
    refuseFlaws(findFlaws(isCrowded ? body : { ...body, messages: null }, VALUES_MAX), [])
  }
  const parsed = batchEnvelope.safeParse(body)
  if (parsed.success) return parsed.data.messages
  throw invalid(detailsOf(parsed.error.issues))
}

function checkItem(message: unknown, index: number): BatchItem {
  const place = ['messages', index]
  refuseFlaws(findFlaws(message, VALUES_MAX), place)
  const parsed = batchItem.safeParse(message)
  if (parsed.success) return parsed.data
  throw invalid(detailsOf(parsed.error.issues, place))
}

function refuseFlaws(flaws: readonly Flaw[], base: readonly (string | number)[]): void {
  if (flaws.length === 0) return
  throw invalid(flaws.map(({ path, message }) => detail([...base, ...path], message)))
}

const invalid = (details: readonly Detail[]): RequestRefused => new RequestRefused('validation_failed', details)
