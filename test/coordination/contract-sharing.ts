import { randomBytes } from 'node:crypto'
import { eventually } from '../support/eventually.ts'
import type { Open, Tap } from './contract.ts'

export async function contractOfEphemeral(t: Tap, open: Open): Promise<void> {
  t.test('a value is kept for its time', async t => {
    const { ephemeral } = await open(t)
    const bytes = randomBytes(1_000)
    await ephemeral.put('qr:cxn_1', 'a login secret', 60_000)
    await ephemeral.put('qr:cxn_2', bytes, 60_000)
    await ephemeral.put('qr:cxn_3', 'soon gone', 60)
    t.equal((await ephemeral.get('qr:cxn_1'))?.toString(), 'a login secret')
    t.ok((await ephemeral.get('qr:cxn_2'))?.equals(bytes))
    await eventually('the short one ends', async () => (await ephemeral.get('qr:cxn_3')) === null)
    await ephemeral.put('qr:cxn_1', 'another', 60_000)
    t.equal((await ephemeral.get('qr:cxn_1'))?.toString(), 'another', 'the last one counts')
    await ephemeral.delete('qr:cxn_1')
    t.equal(await ephemeral.get('qr:cxn_1'), null)
    t.equal(await ephemeral.get('qr:never'), null)
  })

  t.test('what is too large is not kept', async t => {
    const { ephemeral } = await open(t)
    await ephemeral.put('big', Buffer.alloc(256 * 1024 + 1), 60_000)
    t.equal(await ephemeral.get('big'), null)
    await ephemeral.put('big', Buffer.alloc(256 * 1024), 60_000)
    t.equal((await ephemeral.get('big'))?.length, 256 * 1024)
  })
}

export async function contractOfAnnouncements(t: Tap, open: Open): Promise<void> {
  t.test('every listener of the topic hears, also when another one fails', async t => {
    const problems: string[] = []
    const node = await open(t, problems)
    const heard: string[] = []
    const end = node.subscribe('keys', text => void heard.push(`first ${text}`))
    node.subscribe('keys', () => {
      throw new Error('deaf')
    })
    node.subscribe('keys', text => void heard.push(`third ${text}`))
    node.subscribe('channels', text => void heard.push(`other ${text}`))
    node.announce('keys', 'key_1 revoked')
    await eventually('both hear', () => heard.length === 2)
    end()
    node.announce('keys', '')
    await eventually('only the one that stayed hears', () => heard.length === 3)
    t.same(heard, ['first key_1 revoked', 'third key_1 revoked', 'third '])
    t.match(problems, [/listener/, /listener/])
    t.throws(() => node.announce('keys', 'x'.repeat(5_000)), RangeError)
  })
}
