import { z } from 'zod'
import { sendBody } from './send.ts'

const ITEMS_MAX = 2000

const listOf = <T extends z.ZodType>(item: T) => z.strictObject({ messages: z.array(item).min(1).max(ITEMS_MAX) })

/** What surrounds the items; each of them is checked on its own. */
export const batchEnvelope = listOf(z.unknown())

/** One of a batch has exactly the shape of a single send. */
export const batchItem = sendBody
export type BatchItem = z.output<typeof batchItem>

/** Named, for the same reason as those of a single send. */
const EXAMPLES = {
  mixed: {
    summary: 'A text and a template',
    value: {
      messages: [
        {
          to: '5511987654321',
          content: { kind: 'text', text: 'Your order is on its way.' },
          idempotencyKey: 'order-1001-shipped'
        },
        {
          to: '5511987654322',
          content: { kind: 'template', name: 'order_shipped', language: 'en', bodyParams: ['1002'] },
          idempotencyKey: 'order-1002-shipped'
        }
      ]
    }
  }
}

/** For the document: the whole body at once. */
export const batchBody = listOf(batchItem).meta({ 'x-examples': EXAMPLES })

const place = { idempotencyKey: z.string(), index: z.int().describe('Position in `messages`, from 0.') }

export const batchResults = z
  .object({
    results: z.array(
      z.union([
        z.object({ ...place, messageId: z.string(), status: z.literal('accepted') }),
        z.object({ ...place, error: z.object({ code: z.string() }) })
      ])
    )
  })
  .describe('The outcome of each item, in the order of `messages`: accepted into the queue, or refused with a code.')
