/** A tenant with both kinds of numbers, and people whom it knows under several identities. */
import type { Test } from 'tap'
import { keyStreams } from './data-dir.ts'
import { eventually } from './eventually.ts'
import { someone } from './tenant.ts'
import { tracesIn } from './traces.ts'
import { startWorld } from './world.ts'

export async function startPeople(t: Test) {
  const world = await startWorld(t)
  const { official, unofficial, dataDir } = world
  const tenant = await world.tenant('acme')
  const native = await tenant.officialNumber(official)
  const paired = await tenant.unofficialNumber(unofficial, '5511955550009')
  const hooks = await tenant.receiver(t)
  const erase = (contact: string) =>
    tenant.ask<{ messages: number; deliveriesCancelled: number }>('POST', '/v1/erasure', { contact })

  let people = 0
  /**
   * Somebody known as two contacts, by phone number and by user id, and by a hidden id besides. Each has traces of every kind:
   * received with a medium, sent, waiting, webhooks under way. Resolves with the words that must go.
   */
  async function somebody() {
    const before = new Set(keyStreams(dataDir))
    const place = String(++people).padStart(3, '0')
    const [phone, mark] = [someone(), `MARK${place}W8KY`]
    const user = `BR.77120865530274${place}`
    const lid = `8800000000001${place}@lid`
    const tell = (from: string | null, fromUserId: string | null) =>
      official.inbound({
        phoneNumberId: native.phoneNumberId,
        from,
        ...(fromUserId === null ? {} : { fromUserId }),
        profileName: `Name-${mark}`,
        message: { type: 'text', text: { body: `Said-${mark}` } }
      })
    const picture = (from: string, more: object = {}) =>
      unofficial.control('POST', `sessions/${paired.session}/inbound`, {
        from,
        message: {
          kind: 'document',
          filename: `Doc-${mark}.pdf`,
          data: Buffer.from(`Bytes-${mark}`).toString('base64')
        },
        ...more
      })
    const send = async (to: string, ref = native.id): Promise<string> =>
      (await tenant.send(ref, { to, text: `Text-${mark}`, metadata: { note: `Meta-${mark}` } })).messageId
    hooks.answers(() => ({ status: 503, body: `No-${mark}` }))
    await tell(phone, null)
    await tell(null, user)
    await picture(lid)
    await picture(phone)
    const done = [await send(phone), await send(user), await send(lid, paired.id)]
    for (const messageId of done) await tenant.reaches(messageId, 'read')
    await tell(phone, user)
    await unofficial.control('POST', 'contacts', { lids: { [lid]: phone } })
    await unofficial.control('POST', `sessions/${paired.session}/event`, {
      event: 'message.any',
      payload: {
        id: `false_${lid}_3A${mark}`,
        timestamp: Math.floor(Date.now() / 1000),
        from: lid,
        fromMe: false,
        source: 'app',
        body: `Both-${mark}`,
        hasMedia: false,
        _data: {
          key: { remoteJid: lid, remoteJidAlt: `${phone}@s.whatsapp.net`, fromMe: false, id: `3A${mark}` },
          message: { conversation: `Both-${mark}` }
        }
      }
    })
    await official.fault('throttle', { match: { to: phone }, code: 131056 })
    const waiting = await send(phone)
    await tenant.reaches(waiting, 'retrying')
    const forms = [phone, user, lid] as const
    const keys = keyStreams(dataDir).filter(stream => !before.has(stream))
    t.equal(keys.length, 3, 'they were three contacts')
    return { forms, words: [phone, user, lid.replace('@lid', ''), mark], keys, messages: [...done, waiting], waiting }
  }

  type Person = Awaited<ReturnType<typeof somebody>>

  /** Nothing of the person is left, and the counts stay. */
  async function isGone(t: Test, { forms, words, keys, messages }: Person): Promise<void> {
    const left = (): readonly string[] => keyStreams(dataDir).filter(stream => keys.includes(stream))
    await eventually('no key', () => left().length === 0, { limitMs: 10_000, seen: left })
    t.same(tracesIn(dataDir, words), [], 'in every byte under DATA_DIR')
    for (const messageId of messages) t.equal((await tenant.track(messageId)).toAddress, '***')
    for (const form of forms) {
      const { body } = await tenant.ask<{ items: object[] }>('GET', `/v1/messages?recipient=${form}`)
      t.same(body.items, [])
      t.match((await erase(form)).body, { messages: 0, deliveriesCancelled: 0 })
    }
  }

  return { world, tenant, native, hooks, erase, somebody, isGone }
}
