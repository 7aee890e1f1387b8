import t from 'tap'
import { createSlices } from '../../src/actors/slices.ts'

const SLICE_MS = 5
const WORKERS = 3

t.test('all who work have turns, and together one slice in each', async t => {
  const slices = createSlices(SLICE_MS)
  let turn = 0
  let isOver = false
  /** Who has worked in which turn of the event loop. */
  const worked = new Set<string>()
  let steps = 0
  async function work(worker: number): Promise<void> {
    while (!isOver) {
      const slice = slices.next()
      if (slice) await slice
      worked.add(`${turn} ${worker}`)
      steps++
    }
  }
  const workers = Array.from({ length: WORKERS }, (_, worker) => work(worker))
  for (; turn < 30; turn++) await new Promise(resolve => setImmediate(resolve))
  isOver = true
  await Promise.all(workers)
  const turns = new Set([...worked].map(one => one.split(' ')[0]))
  // Each with a slice of his own they would be three in a turn; the count may be one turn off at both ends.
  t.ok(worked.size <= turns.size + 2, `one of them a turn: ${worked.size} slices in ${turns.size} turns`)
  for (let worker = 0; worker < WORKERS; worker++)
    t.ok([...worked].filter(one => one.endsWith(` ${worker}`)).length > 5, `worker ${worker} had turns`)
  t.ok(steps > 10 * worked.size, `a slice is worth having: ${steps} steps in ${worked.size} slices`)
})
