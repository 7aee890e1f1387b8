/** When a session that was said to have stopped makes its number down. */
import t from 'tap'
import { createSupervisor, type SupervisorOptions } from '../../src/actors/sessions.ts'
import type { CallResult, SessionStatus, SessionView } from '../../src/connectors/port.ts'
import { LogUnavailable } from '../../src/log/port.ts'
import { id } from '../support/domain.ts'

const CHANNEL = id('ch', 'a')
const told = (status: SessionStatus): SessionView => ({ status, number: null, restriction: null })

/** A node with one number; `look` answers for its instance. */
function open(look: () => CallResult<SessionView>) {
  const asked: string[] = []
  let timers: (() => void)[] = []
  let isReadable = true
  const channel = { state: 'connected', kind: 'unofficial', tenantId: id('tn'), lastError: null }
  const options = {
    core: {
      aggregates: {
        channels: {
          async read() {
            if (!isReadable) throw new LogUnavailable('not now')
            return channel
          },
          ask: async (_stream: string, { type }: { type: string }) => void asked.push(type)
        }
      },
      clock: {
        now: () => 0,
        after(_ms: number, call: () => void) {
          timers.push(call)
          return () => (timers = timers.filter(timer => timer !== call))
        }
      },
      logger: { warn: () => undefined },
      processId: 'node'
    },
    lines: { of: async () => ({ kind: 'unofficial' }) },
    unofficial: { look: async () => look() },
    graceMs: 15_000
  }
  const { heard } = createSupervisor(options as unknown as SupervisorOptions)
  return {
    asked,
    waits: () => timers.length,
    readable: (is: boolean) => (isReadable = is),
    heard: (status: SessionStatus) => heard(CHANNEL, told(status)),
    /** The grace is over, and what follows from it is done. */
    async graceEnds() {
      for (const call of timers.splice(0)) call()
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    }
  }
}

t.test('a session that works again, as only another node was told, leaves its number as it is', async t => {
  const { heard, graceEnds, asked, waits } = open(() => ({ kind: 'ok', value: told('working') }))
  await heard('stopped')
  await graceEnds()
  t.same(asked, [])
  await heard('stopped')
  t.equal(waits(), 1, 'the next time counts anew')
})

t.test('one that does not work, or that nobody can look at, makes its number down', async t => {
  for (const seen of [
    { kind: 'ok', value: told('stopped') },
    { kind: 'refused', code: 'instance_rejected', detail: null },
    { kind: 'unavailable', detail: null }
  ] as const) {
    const { heard, graceEnds, asked } = open(() => seen)
    await heard('stopped')
    await heard('failed')
    await graceEnds()
    t.same(asked, ['MarkDown'], seen.kind)
  }
})

t.test('what this node hears while it looks counts more than what it sees', async t => {
  const node = open(() => {
    void node.heard('working')
    return { kind: 'unavailable', detail: null }
  })
  await node.heard('stopped')
  await node.graceEnds()
  t.same(node.asked, [])
})

t.test('a log that cannot be read when the grace is over only delays the end', async t => {
  const { heard, graceEnds, asked, readable } = open(() => ({ kind: 'ok', value: told('stopped') }))
  await heard('stopped')
  readable(false)
  await graceEnds()
  t.same(asked, [])
  readable(true)
  await heard('stopped')
  await graceEnds()
  t.same(asked, ['MarkDown'])
})
