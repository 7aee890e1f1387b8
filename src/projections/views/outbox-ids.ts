/**
 * Ids of webhook events and deliveries. Both are made of a moment and a place, and of nothing else: folding the log again
 * creates nothing new, rows need not keep them, and a delivery is found by its id without an index.
 */
import { timeOrderedId } from '../../domain/ids.ts'
import type { WebhookType } from '../port.ts'
import { codesOf } from './codes.ts'

export const webhookTypes = codesOf<WebhookType>([
  'message.sent',
  'message.status',
  'message.received',
  'channel.status',
  'channel.lifecycle',
  'template.updated'
])

/** More than there are types: one log event can make two webhook events. */
const TYPES_MAX = 16
const VALUES: ReadonlyMap<number, number> = new Map(
  Array.from('0123456789abcdefghjkmnpqrstvwxyz', (character, value) => [character.charCodeAt(0), value])
)
const PREFIX_AND_TIME = 'dlv_'.length + 10
const LENGTH = 'dlv_'.length + 26

/** `position` and `ms`: of the log event that the webhook event tells of. */
export function webhookEventId(position: number, ms: number, typeCode: number): string {
  return timeOrderedId('evt', ms, placeBytes(position * TYPES_MAX + typeCode, ms))
}

/** `ms`: of the log event that made the delivery. */
export const deliveryId = (seq: number, ms: number): string => timeOrderedId('dlv', ms, placeBytes(seq, ms))

/** The place of a delivery; null when no delivery has such an id. Whether this one has it, its row tells. */
export function seqOf(id: string): number | null {
  if (id.length !== LENGTH) return null
  let bits = 0
  // Eleven characters of five bits, and the first bit of the twelfth: 56. A strange one has no value, and spoils the sum.
  for (let index = PREFIX_AND_TIME; index < PREFIX_AND_TIME + 11; index++)
    bits = bits * 32 + (VALUES.get(id.charCodeAt(index)) ?? Number.NaN)
  const seq = bits * 2 + ((VALUES.get(id.charCodeAt(PREFIX_AND_TIME + 11)) ?? 0) >> 4)
  return Number.isSafeInteger(seq) ? seq : null
}

/** 56 bits of the place, and 24 that make ids of neighbouring places look less alike. */
function placeBytes(place: number, ms: number): Uint8Array {
  const bytes = new Uint8Array(10)
  let rest = place
  for (let index = 6; index >= 0; index--) {
    bytes[index] = rest % 256
    rest = Math.floor(rest / 256)
  }
  let mixed = Math.imul((place % 2 ** 32) ^ (ms % 2 ** 32), 0x9e3779b1)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b)
  for (let index = 7; index < 10; index++) {
    bytes[index] = (mixed >>> 8) & 0xff
    mixed = Math.imul(mixed, 0x01000193)
  }
  return bytes
}
