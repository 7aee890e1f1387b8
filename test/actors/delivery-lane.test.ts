import t from 'tap'
import { createDeliveryLane } from '../../src/actors/delivery-lane.ts'
import type { DeliveryRow } from '../../src/projections/port.ts'
import { manualClock } from '../support/anchored-log.ts'

const row = (seq: number, streamNo: number) => ({ id: `dlv_${seq}`, seq, streamNo }) as DeliveryRow
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('a delivery that could not begin is tried again, before those after it in its stream', async t => {
  const clock = manualClock()
  const rows = [row(1, 1), row(2, 1), row(3, 2)]
  const tried: string[] = []
  const problems: unknown[] = []
  let isAway = true
  const lane = createDeliveryLane({
    clock,
    concurrency: 4,
    next: after => rows.filter(({ seq }) => seq > after),
    retries: () => [],
    nextRetry: () => null,
    async deliver({ id }) {
      tried.push(id)
      if (isAway && id === 'dlv_1') throw new Error('the log is away')
      return 10
    },
    onCrash: error => void problems.push(error),
    viewPosition: () => 5
  })
  lane.pump()
  await settled()
  t.same(tried, ['dlv_1', 'dlv_3'], 'what follows in the same stream waits')
  t.equal(problems.length, 1)
  clock.tick(1_000)
  await settled()
  t.same(tried, ['dlv_1', 'dlv_3', 'dlv_1'])
  isAway = false
  clock.tick(1_000)
  await settled()
  t.same(tried, ['dlv_1', 'dlv_3', 'dlv_1', 'dlv_1', 'dlv_2'])
  lane.stop()
})
