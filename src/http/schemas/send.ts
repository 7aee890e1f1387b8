import { z } from 'zod'
import { recipient } from './address.ts'
import { content } from './content.ts'
import { text } from './text.ts'

const METADATA_KEYS_MAX = 20
const METADATA_BYTES_MAX = 4096
const TTL_SECONDS_MAX = 604_800

const metadata = z
  .record(text(1, 64), text(0, 512))
  .refine(map => Object.keys(map).length <= METADATA_KEYS_MAX, `must have at most ${METADATA_KEYS_MAX} keys`)
  .refine(
    map => Buffer.byteLength(JSON.stringify(map)) <= METADATA_BYTES_MAX,
    `must have at most ${METADATA_BYTES_MAX} bytes as JSON`
  )
  .describe(
    'Free keys, echoed in `message.sent`: at most 20, keys up to 64 and values up to 512 characters, 4096 bytes.'
  )

/** Named, because plain examples are dropped from schemas that rename a member on the way in. */
const EXAMPLES = {
  text: {
    summary: 'A text',
    value: {
      to: '5511987654321',
      content: { kind: 'text', text: 'Your order is on its way.' },
      idempotencyKey: 'order-1001-shipped',
      metadata: { order: '1001' }
    }
  },
  template: {
    summary: 'A template',
    value: {
      to: '5511987654321',
      content: { kind: 'template', name: 'order_shipped', language: 'en', bodyParams: ['1001'] },
      idempotencyKey: 'order-1001-template',
      ttlSeconds: 3600
    }
  }
}

/** One message to send. */
export const sendBody = z
  .strictObject({
    to: recipient,
    content,
    idempotencyKey: text(1, 128).describe('Unique per workspace: the same key is the same message, for ever.'),
    replyToProviderId: text(1, 512).describe('A `msg_` id; raw ids of the platform are still taken.').exactOptional(),
    ttlSeconds: z.int().min(1).max(TTL_SECONDS_MAX).exactOptional(),
    metadata: metadata.exactOptional()
  })
  .meta({ 'x-examples': EXAMPLES })

export const accepted = z
  .object({
    idempotencyKey: z.string(),
    idempotent: z.boolean().describe('The key was used before: this is the first result and nothing new is sent.'),
    messageId: z.string(),
    state: z.literal('queued'),
    traceId: z.string()
  })
  .describe('Accepted into the queue, not delivered.')
