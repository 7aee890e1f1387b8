/** Erasure: afterwards nothing of the contact is in any byte under DATA_DIR, also when the process dies in the middle. */
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { someone } from '../support/tenant.ts'
import { tracesIn } from '../support/traces.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t)
const { official, unofficial, dataDir } = world
const tenant = await world.tenant('acme')
const channel = await tenant.officialNumber(official)
const paired = await tenant.unofficialNumber(unofficial, '5511955550006')
const hooks = await tenant.receiver(t)

const found = (words: readonly string[]): readonly string[] => tracesIn(dataDir, words)

let people = 0
/** Somebody with traces of every kind: sent, received, failed, waiting, quoted; resolves with the words that must go. */
async function somebody() {
  const [to, mark] = [someone(), `MARK${++people}Q7ZX`]
  const name = `Name-${mark}`
  const content = (text: string) => ({ kind: 'text', text: `${text}-${mark}` })
  const post = async (ref: string, body: object, more: object = {}) => {
    const idempotencyKey = `key-${mark}-${Math.random()}`
    const answer = await tenant.ask<{ messageId: string }>('POST', `/v1/channels/${ref}/messages`, {
      to,
      content: body,
      idempotencyKey,
      metadata: { note: `Meta-${mark}` },
      ...more
    })
    return answer.body.messageId
  }
  const told = await official.inbound({
    phoneNumberId: channel.phoneNumberId,
    from: to,
    profileName: name,
    message: { type: 'document', document: { filename: `File-${mark}.pdf`, caption: `Caption-${mark}` } }
  })
  const heard = await unofficial.control<{ id: string }>('POST', `sessions/${paired.session}/inbound`, {
    from: to,
    pushName: name,
    message: {
      kind: 'document',
      filename: `Doc-${mark}.pdf`,
      caption: `Cap-${mark}`,
      data: Buffer.from(`Bytes-${mark}`).toString('base64')
    }
  })
  const first = await post(channel.id, content('one'), { replyToProviderId: `wamid.RAW-${mark}` })
  const second = await post(paired.id, content('two'))
  await tenant.reaches(first, 'read')
  await tenant.reaches(second, 'read')
  await official.fault('refuse', { match: { to }, code: 131051, details: `Detail-${mark} ${to}` })
  const failed = await post(channel.id, content('three'))
  await tenant.reaches(failed, 'failed')
  hooks.answers(() => ({ status: 503, body: `No-${mark} ${to}` }))
  await official.fault('throttle', { match: { to }, code: 131056 })
  const waiting = await post(channel.id, content('four'))
  await tenant.reaches(waiting, 'retrying')
  const wamids = (await official.sends()).filter(send => send.to === `+${to}` || send.to === to).map(send => send.wamid)
  const bare = (await unofficial.sends())
    .filter(send => send.chatId.startsWith(to))
    .map(send => send.id.split('_').at(-1) ?? '')
  const words = [to, mark, heard.id.split('_').at(-1) ?? '', ...told.ids, ...wamids, ...bare]
  return { to, words, messages: [first, second, failed, waiting], waiting }
}
const erase = (contact: string) =>
  tenant.ask<{ contact: string; messages: number; deliveriesCancelled: number }>('POST', '/v1/erasure', { contact })

t.test('POST /v1/erasure: text, address, names, metadata and provider ids are gone; the message stays', async t => {
  const { to, words, messages, waiting } = await somebody()
  t.ok(words.length >= 6 && words.every(word => word.length >= 8), 'there is something to look for')
  const answer = await erase(to)
  t.equal(answer.status, 200)
  t.match(answer.body, { contact: `${to.slice(0, 4)}*****${to.slice(-4)}`, messages: 4 })
  t.same(found(words), [], 'no file under DATA_DIR')
  for (const id of messages) t.equal((await tenant.track(id)).toAddress, '***')
  t.match(await tenant.track(waiting), { state: 'failed', lastError: 'contact_erased' })
  hooks.answers(() => 204)
  t.same(await hooks.told(waiting, 1), ['failed'], 'status events go on')
  t.match((await erase(to)).body, { messages: 0, deliveriesCancelled: 0 }, 'repeating it is fine')
  const listed = await tenant.ask<{ items: object[] }>('GET', `/v1/messages?recipient=${to}`)
  t.same(listed.body.items, [])
  const later = await tenant.send(channel.id, { to })
  t.match(await tenant.reaches(later.messageId, 'read'), { toAddress: `${to.slice(0, 4)}*****${to.slice(-4)}` })
  t.notOk(
    words.some(word => world.service.output().includes(word)),
    'nor in the log lines'
  )
})

t.test('POST /v1/erasure: every message that waits for the contact fails with contact_erased', async t => {
  const mine = await tenant.officialNumber(official)
  const to = someone()
  await official.fault('slow', { match: { to }, ms: 1_000 })
  const messages = Array.from({ length: 300 }, (_, n) => ({
    to,
    content: { kind: 'text', text: 'Waiting' },
    idempotencyKey: `waiting-${n}`
  }))
  const sent = await tenant.ask('POST', `/v1/channels/${mine.id}/messages/batch`, { messages })
  t.equal(sent.status, 202)
  await tenant.ask('POST', `/v1/channels/${mine.id}/disconnect`)
  t.match((await erase(to)).body, { messages: 300 })
  const left = await tenant.ask<{ items: object[] }>('GET', `/v1/messages?channelId=${mine.id}&state=queued`)
  t.same(left.body.items, [], 'also on a number that sends nothing')
})

t.test('POST /v1/erasure: what a kill leaves half done is completed at the next start', async t => {
  for (const waitMs of [2, 6, 12]) {
    const { to, words, messages } = await somebody()
    const asked = erase(to).then(
      answer => answer.status === 200,
      () => false
    )
    await new Promise(resolve => setTimeout(resolve, waitMs))
    await world.service.kill()
    const answered = await asked
    await world.service.start()
    hooks.answers(() => 204)
    const erased = async (): Promise<boolean> => (await tenant.track(messages[0] ?? '')).toAddress === '***'
    // A kill before the record leaves nothing to complete: the client, who got no answer, asks again.
    const begun = answered || (await eventually('an end', erased, { limitMs: 6_000 }).catch(() => false))
    if (!begun) t.equal((await erase(to)).status, 200)
    t.comment(`killed after ${waitMs} ms: ${answered ? 'answered' : begun ? 'completed at the start' : 'not begun'}`)
    await eventually('no trace', () => found(words).length === 0, { limitMs: 10_000, seen: () => found(words) })
    t.ok(await erased())
  }
})
