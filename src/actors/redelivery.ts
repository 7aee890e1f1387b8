/** Dead webhook deliveries are taken up again when a client asks for it (decisions §5). */
import type { DeliveriesRetried } from '../domain/record.ts'
import { LogUnavailable, NO_STREAM } from '../log/port.ts'
import type { DeliveryRow } from '../projections/port.ts'
import { type Asker, askedBy, type Core, now, ok, type Refusal, type Result, record, refuse } from './core.ts'

export type Redelivery = {
  /** A dead one waits again and is due at once; one that waits already stays as it is. */
  retryDelivery(asker: Asker, deliveryId: string): Promise<Result<DeliveryRow>>
}

/** Beside the deliverer's own outcomes, which must not lose their place in the stream to this. */
const SHARD = 'retry'
const CONFLICTS_MAX = 20

export function createRedelivery(core: Core): Redelivery {
  const { views, own } = core

  async function append(asker: Asker, deliveryIds: readonly string[]): Promise<void> {
    const at = now(core)
    const event: DeliveriesRetried = { type: 'DeliveriesRetried', at, data: { deliveryIds } }
    const stream = `outcomes-${SHARD}-${at.slice(0, 10).replaceAll('-', '')}`
    let expected = NO_STREAM
    // The stream has many writers and no state to decide on: a conflict only says where its end is.
    for (let tries = 0; tries < CONFLICTS_MAX; tries++) {
      const result = await record(core, stream, expected, [event], askedBy(asker))
      if (result.kind === 'appended') return
      if (result.kind !== 'conflict') break
      expected = result.revision
    }
    throw new LogUnavailable('retry of a delivery not recorded')
  }

  return {
    async retryDelivery(asker, deliveryId) {
      const { tenantId } = asker
      await own.settled(tenantId)
      const row = views.delivery(tenantId, deliveryId)
      if (!row) return refuse('resource_not_found')
      if (row.state === 'delivered') return invalid('is delivered already')
      if (row.state !== 'dead') return ok(row)
      if (!views.destination(tenantId, row.destinationId)?.enabled) return invalid('has no enabled destination')
      await append(asker, [deliveryId])
      await own.settled(tenantId)
      return ok(views.delivery(tenantId, deliveryId) ?? row)
    }
  }
}

const invalid = (message: string): Refusal => ({
  ok: false,
  code: 'validation_failed',
  details: [{ path: 'id', message }]
})
