/** What one node learns of a contact's identities, the other knows; an erasure on either takes all of it. */
import t from 'tap'
import { noRedis } from '../coordination/redis-server.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { startCluster } from './cluster.ts'

t.setTimeout(180_000)

t.test('identities on two nodes', { skip: noRedis }, async t => {
  const cluster = await startCluster(t, { nodes: 2 })
  const { official } = cluster
  const { anywhere, each } = cluster.seenBy(await cluster.issue('acme'))
  const [one, other] = each
  if (!one || !other) throw new Error('there are not two nodes')
  const channel = await anywhere.officialNumber(official)
  const heard = async (from: string | null, fromUserId: string) => {
    const message = { type: 'text', text: { body: 'Hi' } }
    const { status } = await official.inbound({ phoneNumberId: channel.phoneNumberId, from, fromUserId, message })
    t.equal(status, 200)
  }
  const listed = async (node: typeof one, recipient: string): Promise<readonly string[]> => {
    const { body } = await node.ask<{ items: { id: string }[] }>('GET', `/v1/messages?recipient=${recipient}`)
    return body.items.map(item => item.id).sort()
  }

  for (const round of [1, 2, 3]) {
    const [phone, user] = [`552180000000${round}`, `BR.5512086553027400${round}`]
    // Each node has one of them in memory, as a contact of its own.
    const sent = [await one.send(channel.id, { to: phone }), await other.send(channel.id, { to: user })]
    const ids = sent.map(({ messageId }) => messageId).sort()
    await heard(null, user)
    // Several callbacks at once, taken by either node: the link is made once.
    await Promise.all(Array.from({ length: 8 }, () => heard(phone, user)))
    for (const node of each)
      for (const form of [phone, user])
        await eventually('the messages of both', async () => (await listed(node, form)).join() === ids.join())
    const again = await other.send(channel.id, { to: user })
    await anywhere.reaches(again.messageId, 'read')
    await eventually('the message of the other node', async () => (await listed(one, phone)).length === 3)
    const erasing = round === 1 ? [one] : round === 2 ? [other] : [one, other]
    const answers = await Promise.all(
      erasing.map((node, index) => node.ask('POST', '/v1/erasure', { contact: index === 0 ? user : phone }))
    )
    for (const { status } of answers) t.equal(status, 200)
    for (const node of each) {
      for (const messageId of [...ids, again.messageId])
        await eventually('no address', async () => (await node.track(messageId)).toAddress === '***')
      for (const form of [phone, user]) await eventually('nobody', async () => (await listed(node, form)).length === 0)
    }
    await heard(phone, user)
    const later = await one.send(channel.id, { to: user })
    await anywhere.reaches(later.messageId, 'read')
    for (const node of each)
      await eventually('begins anew', async () => (await listed(node, phone)).join() === later.messageId)
  }
  for (const { url } of cluster.nodes) t.equal((await call('GET', `${url}/readyz`)).status, 200)
})
