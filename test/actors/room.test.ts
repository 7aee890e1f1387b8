import t from 'tap'
import { createRoom } from '../../src/actors/room.ts'

t.test('as many as there are places, then one for each that leaves, in the order of arrival', async t => {
  const room = createRoom(2)
  const entered: number[] = []
  const enter = (guest: number): void => {
    const full = room.enter()
    if (full) void full.then(() => entered.push(guest))
    else entered.push(guest)
  }
  for (const guest of [1, 2, 3, 4]) enter(guest)
  t.same(entered, [1, 2])
  room.leave()
  await Promise.resolve()
  t.same(entered, [1, 2, 3])
  enter(5)
  room.leave()
  room.leave()
  await Promise.resolve()
  t.same(entered, [1, 2, 3, 4, 5])
  room.leave()
  enter(6)
  t.same(entered, [1, 2, 3, 4, 5, 6], 'an empty place is taken at once')
})
