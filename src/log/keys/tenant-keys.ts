/**
 * A tenant's own keys (decisions §8.5): the id key (message ids depend on it, so it never rotates), the index key
 * (blind indexes) and the key-encryption key (contact keys, credentials, secrets). Wrapped by the master key in `keys-tn_….<generation>`.
 */
import { randomBytes } from 'node:crypto'
import { derivedId } from '../../domain/ids.ts'
import { KEY_BYTES } from '../encryption.ts'
import { hmac } from '../hmac.ts'
import type { MasterKey } from './master-key.ts'

export type TenantKeys = {
  readonly tenantId: string
  readonly generation: number
  readonly id: Buffer
  readonly index: Buffer
  readonly encryption: Buffer
}

/** Generations tried when the keys are looked for: each `keys rewrap` adds one. */
export const GENERATIONS_MAX = 256

export const tenantKeyStream = (tenantId: string, generation: number): string => `keys-${tenantId}.${generation}`

export function newTenantKeys(tenantId: string): TenantKeys {
  return {
    tenantId,
    generation: 1,
    id: randomBytes(KEY_BYTES),
    index: randomBytes(KEY_BYTES),
    encryption: randomBytes(KEY_BYTES)
  }
}

export function wrapTenantKeys(master: MasterKey, keys: TenantKeys): string {
  return master.wrap(Buffer.concat([keys.id, keys.index, keys.encryption]), keys.tenantId)
}

export function unwrapTenantKeys(
  masters: readonly MasterKey[],
  stored: { tenantId: string; generation: number; wrapped: string }
): TenantKeys | null {
  for (const master of masters) {
    const bytes = master.unwrap(stored.wrapped, stored.tenantId)
    if (bytes?.length !== 3 * KEY_BYTES) continue
    const part = (index: number): Buffer => bytes.subarray(index * KEY_BYTES, (index + 1) * KEY_BYTES)
    return {
      tenantId: stored.tenantId,
      generation: stored.generation,
      id: part(0),
      index: part(1),
      encryption: part(2)
    }
  }
  return null
}

/** `msg_` id of an outbound message (decisions §2): the same key is the same message, on any node, for ever. */
export const outboundMessageId = (keys: TenantKeys, idempotencyKey: string): string =>
  derivedId('msg', hmac(keys.id, `out|${idempotencyKey}`))

/** `msg_` id of an inbound message: a repeated callback is the same message. */
export const inboundMessageId = (keys: TenantKeys, channelId: string, providerId: string): string =>
  derivedId('msg', hmac(keys.id, `in|${channelId}|${providerId}`))

/** Blind index of a provider's message id, 128 bits as hex. */
export const providerIdIndex = (keys: TenantKeys, channelId: string, bareId: string): string =>
  hmac(keys.index, `provider|${channelId}|${bareId}`).toString('hex', 0, 16)

/** Blind index of a contact's address, as the name of its key stream bears it. */
export const contactIndex = (keys: TenantKeys, address: string): string =>
  derivedId('ct', hmac(keys.index, `contact|${address}`)).slice(3)
