/** Unofficial numbers on several nodes: paired, watched and sent through by whichever node has the work, and never overfilled. */
import t from 'tap'
import { openEventStoreLog } from '../../src/log/eventstore/home.ts'
import { noRedis } from '../coordination/redis-server.ts'
import { eventually } from '../support/eventually.ts'
import { all } from '../support/log.ts'
import { type Attempt, storyOf, type Tenant } from '../support/tenant.ts'
import { startCluster } from './cluster.ts'

type Data = { readonly dispatchId?: string; readonly heldId?: string }

const CAPACITY = 4
const LEASE_MS = 4_000
const RUSH = 12

t.setTimeout(180_000)

t.test('an unofficial number on two nodes', { skip: noRedis }, async t => {
  const cluster = await startCluster(t, {
    nodes: 2,
    capacity: CAPACITY,
    unofficial: { engine: 'GOWS' },
    settings: { LEASE_SECONDS: String(LEASE_MS / 1000), INDETERMINATE_TIMEOUT_SECONDS: '60' }
  })
  const { unofficial } = cluster
  const { anywhere, each } = cluster.seenBy(await cluster.issue('acme'))
  const [first, second] = each
  if (!first || !second) throw new Error('two nodes are needed')
  const hooks = await anywhere.receiver(t)
  let channelId = ''
  let session = ''

  async function eventsOf(stream: string): Promise<readonly { id: string; type: string; data: Data }[]> {
    const log = await openEventStoreLog({ url: cluster.log.url, readOnly: true })
    const events = await all(log.read(stream)).finally(() => log.close())
    return events.map(({ id, type, body }) => ({ id, type, data: (JSON.parse(body) as { data: Data }).data }))
  }

  /** Whose work the number is: the place of the node that started the dispatch of a message. */
  async function holderOf(messageId: string): Promise<number> {
    const started = (await eventsOf(`message-${messageId}`)).find(({ type }) => type === 'MessageDispatchStarted')
    return cluster.nodes.findIndex(({ name }) => name === started?.data.dispatchId?.split('.')[0])
  }

  /** Read, and the receiver knows it step by step. */
  async function told(tenant: Tenant, messageId: string): Promise<void> {
    const story = storyOf(await tenant.reaches(messageId, 'read'))
    await eventually('the receiver knows', () => story.every(step => hooks.storyOf(messageId).includes(step)))
  }

  await t.test('started on one node, scanned with the QR of the other, connected on both', async t => {
    const { attemptId } = (await first.startAttempt()).body
    session = attemptId
    const offered = await second.attemptReaches(attemptId, 'scan_qr')
    t.match(offered.qr, /^.{20,}$/)
    const here = await first.attemptReaches(attemptId, 'scan_qr')
    t.equal(here.qr, offered.qr, 'both show the same one while it is fresh')
    await unofficial.scan(attemptId, '5511970000001')
    const connected = await Promise.all(each.map(node => node.attemptReaches(attemptId, 'connected')))
    channelId = connected[0]?.channelId ?? ''
    for (const one of connected) t.same(one, { state: 'connected', channelId, number: '5511970000001' })
    for (const node of each) t.match(await node.channel(channelId), { kind: 'unofficial', state: 'connected' })
  })

  await t.test('sends through both nodes are read, each sent once', async t => {
    const texts = Array.from({ length: 10 }, (_, number) => `from node ${number % 2}, number ${number}`)
    const sent = await Promise.all(texts.map((text, number) => each[number % 2]?.send(channelId, { text })))
    for (const [number, accepted] of sent.entries()) {
      await told(each[(number + 1) % 2] ?? anywhere, accepted?.messageId ?? '')
      t.equal(await unofficial.timesAccepted(texts[number] ?? ''), 1)
    }
  })

  await t.test('reports that come before the answer, to any node, are held and settled', async t => {
    for (let number = 0; number < 6; number++) {
      const text = `early ${number}`
      await unofficial.fault('ack_before_answer', { match: { text } })
      if (number > 0) await unofficial.fault('no_echo', { match: { text } })
      const { messageId } = await first.send(channelId, { text })
      await told(second, messageId)
      t.equal(await unofficial.timesAccepted(text), 1)
    }
    await eventually('all that was held is settled', async () => {
      const inbox = await eventsOf(`inbox-${channelId}`)
      const settled = new Set(inbox.map(({ data }) => data.heldId))
      const held = inbox.filter(({ type }) => type === 'ReportHeld')
      return held.length > 0 && held.every(({ id }) => settled.has(id))
    })
  })

  await t.test('the other node supervises and sends when the holder is killed in the middle of a send', async t => {
    const probe = await anywhere.send(channelId, { text: 'whose work is it' })
    await anywhere.reaches(probe.messageId, 'read')
    const index = await holderOf(probe.messageId)
    const [holder, survivor] = [cluster.nodes[index], each[1 - index]]
    if (!holder || !survivor) throw new Error('no node has started the dispatch')
    await unofficial.fault('hang', { accept: true, match: { text: 'in the middle' } })
    const caught = await survivor.send(channelId, { text: 'in the middle' })
    await eventually('the platform has it', async () => (await unofficial.timesAccepted('in the middle')) === 1)
    await holder.kill()
    const after = await survivor.send(channelId, { text: 'after the kill' })
    await told(survivor, after.messageId)
    t.not(await holderOf(after.messageId), index)

    await unofficial.control('POST', `sessions/${session}/drop`)
    await eventually('the number is down', async () => (await survivor.channel(channelId)).state === 'down')
    const waiting = await survivor.send(channelId, { text: 'while down' })
    await unofficial.control('POST', `sessions/${session}/recover`)
    await told(survivor, waiting.messageId)
    t.match(await survivor.channel(channelId), { state: 'connected', lastError: null })

    const rest = await eventually('the send that was cut off is settled', async () => {
      const { state } = await survivor.track(caught.messageId)
      return ['sent', 'delivered', 'read'].includes(state) && state
    })
    t.comment(`the send that was cut off is ${rest}`)
    for (const text of ['in the middle', 'after the kill', 'while down'])
      t.equal(await unofficial.timesAccepted(text), 1, text)
    await holder.start()
  })

  await t.test('a rush on both nodes fills the instance and does not overfill it', async t => {
    const answers = await Promise.all(Array.from({ length: RUSH }, (_, number) => each[number % 2]?.startAttempt()))
    const started = answers.flatMap(answer => (answer?.status === 201 ? [answer.body] : []))
    const refused = answers.filter(answer => answer?.status !== 201)
    t.equal(started.length, CAPACITY - 1, 'one place is the number’s')
    for (const answer of refused)
      t.match(answer, { status: 503, body: { error: { code: 'no_unofficial_instance_available' } } })
    for (const { attemptId } of started) await second.attemptReaches(attemptId, 'scan_qr')
    t.equal((await unofficial.sessions()).length, CAPACITY)

    const [leaving] = started as [Attempt]
    t.equal((await first.ask('DELETE', `/v1/channels/connect/${leaving.attemptId}`)).status, 200)
    await eventually('its place is free on the other node', async () => (await second.startAttempt()).status === 201)
    t.equal((await first.ask('DELETE', `/v1/channels/${channelId}`)).status, 200)
    await eventually('a deleted number leaves its place', async () => (await second.startAttempt()).status === 201)
    t.equal((await first.startAttempt()).status, 503, 'and then it is full again')
  })
})
