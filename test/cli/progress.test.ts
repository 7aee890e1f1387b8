import t from 'tap'
import { createProgress } from '../../src/cli/progress.ts'

function drawn(total: number | null, isTTY: boolean): string[] {
  const written: string[] = []
  let now = 0
  const screen = { isTTY, write: (text: string | Uint8Array) => Boolean(written.push(String(text))) }
  const progress = createProgress({ label: 'verifying', total, screen, now: () => now })
  for (const done of [0, 1, 1_500, 3_000]) {
    progress.at(done)
    now += done === 1 ? 1 : 200
  }
  progress.end()
  return written.map(text => text.replaceAll('\r\u001b[K', '·'))
}

t.test('a bar on a terminal, redrawn now and then, and taken away at the end', async t => {
  t.same(drawn(3_000, true), [
    '·verifying [------------------------]   0%  0 of 3,000 events',
    '·verifying [------------------------]   0%  1 of 3,000 events',
    '·verifying [########################] 100%  3,000 of 3,000 events',
    '·'
  ])
})

t.test('a count where nobody knows the total, and nothing off a terminal', async t => {
  t.match(drawn(null, true).at(-2), '3,000 events')
  t.same(drawn(3_000, false), [])
})
