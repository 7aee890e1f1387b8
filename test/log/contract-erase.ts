import type { Test } from 'tap'
import type { RecordedEvent } from '../../src/log/port.ts'
import { NO_STREAM } from '../../src/log/port.ts'
import { all, event } from '../support/log.ts'
import type { Open } from './contract.ts'
import { followed } from './contract-support.ts'

export function contractOfErasing(t: Test, open: Open): void {
  t.test('an erased stream is gone, and its name can never be used again', async t => {
    const log = await open(t)
    await log.append('keys-1', NO_STREAM, [event('a'), event('b')])
    const [first] = await followed(log, 2)
    await log.erase('keys-1')
    t.same(await all(log.read('keys-1')), [])
    t.same(await all(log.read('keys-1', { direction: 'backwards' })), [])
    t.equal(await log.at(first?.position ?? 0), null)
    for (const expected of [NO_STREAM, 0, 1])
      t.same(await log.append('keys-1', expected, [event('c')]), { kind: 'deleted' })
    t.same(await log.append('keys-1', NO_STREAM, [event('a'), event('b')]), { kind: 'deleted' }, 'a repetition too')
  })

  t.test('erasing twice, and erasing what never was, is fine', async t => {
    const log = await open(t)
    await log.append('keys-1', NO_STREAM, [event('a')])
    await Promise.all([log.erase('keys-1'), log.erase('keys-1')])
    await log.erase('keys-1')
    await log.erase('keys-never')
    t.same(await log.append('keys-never', NO_STREAM, [event('a')]), { kind: 'deleted' })
  })

  t.test('what was appended before is erased, and the others go on', async t => {
    const log = await open(t)
    const results = await Promise.all([
      log.append('keys-1', NO_STREAM, [event('a')]),
      log.append('keys-2', NO_STREAM, [event('b')]),
      log.erase('keys-1'),
      log.append('keys-2', 0, [event('c')])
    ])
    t.match(results[0], { kind: 'appended' })
    t.equal((await all(log.read('keys-2'))).length, 2)
    t.same(await all(log.read('keys-1')), [])
  })

  t.test('positions go on after an erasure, and followers pass over it', async t => {
    const log = await open(t)
    await log.append('s-1', NO_STREAM, [event('a')])
    await log.append('keys-1', NO_STREAM, [event('b')])
    const before = await log.head()
    await log.erase('keys-1')
    const result = await log.append('s-1', 0, [event('c')])
    t.ok(result.kind === 'appended' && result.position > before, 'a position is never used twice')
    const seen: string[] = []
    await new Promise<void>(resolve => {
      const follower = log.follow(0, (page: readonly RecordedEvent[]) => {
        seen.push(...page.map(({ id }) => id))
        if (seen.includes('evt_c')) void follower.close().then(resolve)
      })
    })
    t.same(seen, ['evt_a', 'evt_c'])
  })
}
