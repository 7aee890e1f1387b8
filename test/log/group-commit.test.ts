/** What goes into one commit: how much of a batch, beside single appends, between them, and alone. */
import t from 'tap'
import { requestOf } from '../../src/log/append-request.ts'
import { NO_STREAM } from '../../src/log/port.ts'
import { createGroupCommit } from '../../src/log/sqlite/group-commit.ts'
import { openWriter } from '../../src/log/sqlite/writer.ts'
import { event } from '../support/log.ts'

function commits() {
  const writer = openWriter({ file: ':memory:' })
  /** Of each commit: single appends and those of batches. */
  const groups: [single: number, bulk: number][] = []
  const tasks: (() => void)[] = []
  let now = 1_000
  let streams = 0
  const group = createGroupCommit({
    writer: {
      ...writer,
      commit(requests) {
        const bulk = requests.filter(({ isBulk }) => isBulk).length
        groups.push([requests.length - bulk, bulk])
        return writer.commit(requests)
      }
    },
    schedule: task => void tasks.push(task),
    onGroup: () => undefined,
    now: () => now
  })
  return {
    groups,
    pass(ms: number) {
      now += ms
    },
    add(count: number, isBulk: boolean) {
      for (let left = count; left > 0; left--)
        group.add(requestOf(`s-${streams++}`, NO_STREAM, [event(`e${streams}`)], { isBulk }), () => undefined)
    },
    turn: () => tasks.shift()?.()
  }
}

t.test('a batch alone has the largest commits', async t => {
  const { add, turn, groups } = commits()
  add(600, true)
  for (let turns = 0; turns < 3; turns++) turn()
  t.same(groups, [
    [0, 256],
    [0, 256],
    [0, 88]
  ])
})

t.test('beside a single append it has little of a commit, and half of one while the next is likely', async t => {
  const { add, turn, pass, groups } = commits()
  add(1_000, true)
  add(1, false)
  turn()
  turn()
  add(60, false)
  turn()
  pass(99)
  turn()
  pass(1)
  turn()
  t.same(groups, [
    [1, 63],
    [0, 128],
    [60, 16],
    [0, 128],
    [0, 256]
  ])
})

t.test('more single appends than a commit takes leave it some', async t => {
  const { add, turn, groups } = commits()
  add(100, true)
  add(300, false)
  turn()
  turn()
  t.same(groups, [
    [240, 16],
    [60, 16]
  ])
})
