/** Batches have a thread of their own; to a client it must be as if there were none. */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, { settings: { INDETERMINATE_TIMEOUT_SECONDS: '2' } })
const tenant = await world.tenant('acme')
const channel = await tenant.officialNumber(world.official)

type Results = { results: { index: number; idempotencyKey: string; messageId?: string; error?: { code: string } }[] }
type Page = { items: { id: string }[] }

const item = (idempotencyKey: string, to = someone(), text = 'Hello') => ({
  to,
  content: { kind: 'text', text },
  idempotencyKey
})
const post = (messages: readonly object[], ref = channel.id) =>
  tenant.ask<Results>('POST', `/v1/channels/${ref}/messages/batch`, { messages })
const idsOf = ({ body }: { body: Results }): readonly (string | undefined)[] =>
  body.results.map(({ messageId }) => messageId)
const listed = async (recipient: string): Promise<readonly string[]> => {
  const { body } = await tenant.ask<Page>('GET', `/v1/messages?recipient=${recipient}`)
  return body.items.map(({ id }) => id)
}

/** How often the platform has taken each message. */
const accepted = async (): Promise<Readonly<Record<string, number>>> =>
  (await world.official.control<{ byCallbackData: Record<string, number> }>('GET', 'sends')).byCallbackData

t.test('what was just configured counts, and what was just accepted is seen', async t => {
  for (let round = 0; round < 5; round++) {
    const made = await tenant.officialNumber(world.official)
    const to = someone()
    const answer = await post([item(`just-${round}`, to)], made.id)
    t.match(answer, { status: 202, body: { results: [{ index: 0, messageId: /^msg_/ }] } })
    t.strictSame(await listed(to), idsOf(answer))
    t.equal((await tenant.ask('DELETE', `/v1/channels/${made.id}`)).status, 200)
    t.equal((await post([item(`gone-${round}`, to)], made.id)).status, 404)
  }
})

t.test('the same key as a single send and in batches, all at once: one message', async t => {
  const keys = Array.from({ length: 100 }, (_, index) => `both-${index}`)
  const people = keys.map(() => someone())
  const messages = keys.map((key, index) => item(key, people[index]))
  const [first, second, ...singles] = await Promise.all([
    post(messages),
    post(messages.toReversed()),
    ...keys.map((key, index) => tenant.send(channel.id, { key, to: people[index] ?? '', text: 'Hello' }))
  ])
  const expected = singles.map(({ messageId }) => messageId)
  t.strictSame(idsOf(first), expected)
  t.strictSame(idsOf(second).toReversed(), expected)
  for (const messageId of expected) await tenant.reaches(messageId, 'read')
  const times = await accepted()
  t.ok(
    expected.every(messageId => times[messageId] === 1),
    'each went out once'
  )
})

t.test('a new contact, met by both threads in the same moment, is one contact', async t => {
  const people = Array.from({ length: 150 }, () => someone())
  // In the opposite order, so that they meet in the middle.
  const [batch, ...singles] = await Promise.all([
    post(people.map((to, index) => item(`meet-${index}`, to))),
    ...people.toReversed().map((to, index) => tenant.trySend(channel.id, { to, key: `meets-${index}` }))
  ])
  t.ok(
    batch.body.results.every(({ error }) => error === undefined),
    'no item was refused'
  )
  t.ok(
    singles.every(({ status }) => status === 202),
    'nor was a single send'
  )
  for (const messageId of [...idsOf(batch), ...singles.map(({ body }) => body.messageId)])
    await tenant.reaches(String(messageId), 'read')
  for (const to of people.slice(60, 90)) {
    t.equal((await listed(to)).length, 2)
    const erased = await tenant.ask<{ messages: number }>('POST', '/v1/erasure', { contact: to })
    t.match(erased, { status: 200, body: { messages: 2 } }, 'one erasure takes both')
  }
})

t.test('after an erasure a batch begins with a new key', async t => {
  const to = someone()
  for (let round = 0; round < 10; round++) {
    const before = await post([item(`erased-${round}`, to, `before ${round}`)])
    t.equal((await tenant.ask('POST', '/v1/erasure', { contact: to })).status, 200)
    const after = await post([item(`anew-${round}`, to, `after ${round}`)])
    const [messageId = ''] = idsOf(after)
    await tenant.reaches(String(messageId), 'read')
    t.not(idsOf(before)[0], messageId)
    t.equal((await tenant.track(String(messageId))).toAddress.slice(0, 4), to.slice(0, 4))
  }
})

t.test('batches at once, of several sizes, each with its own answer', async t => {
  const sizes = [1, 2000, 7, 800, 1, 300]
  const answers = await Promise.all(
    sizes.map((size, batch) => post(Array.from({ length: size }, (_, index) => item(`sizes-${batch}-${index}`))))
  )
  for (const [batch, { status, body }] of answers.entries()) {
    t.equal(status, 202)
    t.strictSame(
      body.results.map(({ index, idempotencyKey }) => [index, idempotencyKey]),
      Array.from({ length: sizes[batch] ?? 0 }, (_, index) => [index, `sizes-${batch}-${index}`])
    )
  }
  const ids = answers.flatMap(answer => idsOf(answer))
  t.equal(new Set(ids).size, ids.length)
})

t.test('a batch whose items wait for each other keeps no place from another batch', async t => {
  const to = someone()
  const queueing = Array.from({ length: 2_000 }, (_, index) => item(`one-by-one-${index}`, to))
  const slow = post(queueing)
  await eventually('the first are under way', async () => (await listed(to)).length > 0)
  const began = performance.now()
  const { body } = await post(Array.from({ length: 300 }, (_, index) => item(`beside-${index}`)))
  const besideMs = performance.now() - began
  t.ok(body.results.every(({ messageId }) => messageId !== undefined))
  t.equal((await slow).status, 202)
  const ms = performance.now() - began
  // When it has to take turns with the other for each place it takes a quarter of that time.
  t.ok(besideMs < ms / 5, `${besideMs.toFixed()} of ${ms.toFixed()} ms`)
})

t.test('a kill in the middle of batches: what was accepted is sent once, and the rest can be repeated', async t => {
  const number = await tenant.officialNumber(world.official)
  const messages = Array.from({ length: 1_000 }, (_, index) => item(`killed-${index}`))
  const first = await post(messages.slice(0, 200), number.id)
  const cutOff = Promise.allSettled([post(messages.slice(200, 600), number.id), post(messages.slice(600), number.id)])
  const [early = ''] = idsOf(first)
  await eventually('some of them are sent', async () => (await accepted())[early] === 1)
  await world.service.kill()
  await cutOff
  await world.service.start()
  const again = await post(messages, number.id)
  t.equal(again.status, 202)
  t.strictSame(idsOf(again).slice(0, 200), idsOf(first))
  const inState = (state: string) =>
    tenant.ask<Page>('GET', `/v1/messages?channelId=${number.id}&state=${state}&limit=1`)
  const open = ['queued', 'dispatching', 'retrying', 'indeterminate', 'sent', 'delivered']
  await eventually(
    'all of them have ended',
    async () => (await Promise.all(open.map(inState))).every(({ body }) => body.items.length === 0),
    { limitMs: 60_000 }
  )
  const times = await accepted()
  const outcomes = idsOf(again).map(messageId => times[String(messageId)] ?? 0)
  t.notOk(
    outcomes.some(count => count > 1),
    'nobody got it twice'
  )
  t.ok(outcomes.filter(count => count === 1).length > 900, 'nearly all did: of the others nobody can know')
})

const isLinux = process.platform === 'linux'

t.test('the thread of the batches gives way', { skip: isLinux ? false : 'niceness of threads is Linux' }, t => {
  const tasks = `/proc/${world.service.pid()}/task`
  const niceness = readdirSync(tasks).map(task => {
    const [, rest = ''] = readFileSync(`${tasks}/${task}/stat`, 'utf8').split(') ')
    return Number(rest.split(' ')[16])
  })
  const own = Math.min(...niceness)
  t.strictSame(
    niceness.filter(one => one !== own),
    [own + 5]
  )
  t.end()
})
