import t from 'tap'
import type { RecordedEvent } from '../../src/log/port.ts'
import { createPageQueue } from '../../src/service/page-queue.ts'

const page = (...positions: number[]) => positions.map(position => ({ position }) as RecordedEvent)
const positionsOf = (events: readonly RecordedEvent[]) => events.map(({ position }) => position)

t.test('events are read in portions, and what was read is dropped', async t => {
  const queue = createPageQueue()
  t.same(queue.read(0, 10), [])
  queue.add(page(2, 5))
  queue.add(page(7, 9))
  t.same(positionsOf(queue.read(0, 3)), [2, 5, 7])
  t.same(positionsOf(queue.read(7, 3)), [9])
  t.same(queue.read(9, 3), [])
  queue.add(page(11))
  t.same(positionsOf(queue.read(9, 3)), [11])
})

t.test('a page that was not folded comes once more, and is not folded twice', async t => {
  const queue = createPageQueue()
  queue.add(page(2, 5))
  t.same(positionsOf(queue.read(0, 10)), [2, 5])
  queue.add(page(2, 5))
  queue.add(page(5, 7))
  t.same(positionsOf(queue.read(0, 10)), [2, 5, 7])
})
