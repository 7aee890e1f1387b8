/** Ids of webhook events and deliveries: derived, so that folding the log again creates nothing new. */
import { createHash } from 'node:crypto'
import { siblingId } from '../../domain/ids.ts'
import type { WebhookType } from '../port.ts'

/** One log event can make two webhook events. */
export function webhookEventId(logEventId: string, type: WebhookType): string {
  return siblingId('evt', logEventId, sha256(`${logEventId}|${type}`))
}

/** `causeId` is the log event that made the delivery; `renotifyId` the same one, where it asked for a redelivery. */
export function deliveryId(causeId: string, eventId: string, destinationId: string, renotifyId: string | null): string {
  return siblingId('dlv', causeId, sha256(`${eventId}|${destinationId}|${renotifyId ?? ''}`))
}

const sha256 = (text: string): Uint8Array => createHash('sha256').update(text).digest()
