/** Fetching on arrival: repeated while it may help, given up when it cannot, and never a reason to fail anything else. */
import { Readable } from 'node:stream'
import t from 'tap'
import type { Core, Logger } from '../../src/actors/core.ts'
import { receive } from '../../src/actors/inbound.ts'
import { createMediaFetcher } from '../../src/actors/media-fetcher.ts'
import type { MediaPlace, MediaStore } from '../../src/actors/media-store.ts'
import type { MediaDownload } from '../../src/connectors/unofficial/media.ts'
import type { MessageReceived } from '../../src/domain/record.ts'
import type { ChannelRow } from '../../src/projections/port.ts'
import { at, id } from '../support/domain.ts'
import { eventually } from '../support/eventually.ts'
import { openKeys } from '../support/keys.ts'

type Scope = Parameters<typeof openKeys>[0]
type Timer = { readonly ms: number; readonly call: () => void }

const TENANT = id('tn', 't')
const channel = { id: id('ch', 'c'), tenantId: TENANT, kind: 'unofficial' } as ChannelRow
const found = (): MediaDownload => ({ kind: 'found', body: Readable.from([Buffer.from('x')]), size: 1, type: null })
const away: MediaDownload = { kind: 'unavailable', detail: 'ECONNREFUSED' }
const failure = (code: string): Error => Object.assign(new Error(code), { code })

async function rig(t: Scope) {
  const { log, keyring } = openKeys(t)
  await keyring.createTenant(TENANT, at(0))
  const timers: Timer[] = []
  const said: [level: string, message: string][] = []
  const say = (level: string) => (_fields: object, message: string) => void said.push([level, message])
  const core = {
    log,
    keyring,
    clock: {
      now: () => Date.parse(at(0)),
      after(ms: number, call: () => void) {
        const timer = { ms, call }
        timers.push(timer)
        return () => void timers.splice(timers.indexOf(timer), 1)
      }
    },
    logger: { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') } satisfies Logger,
    own: { wrote: () => undefined },
    aggregates: { channels: { read: async () => channel } },
    processId: 'test'
  } as unknown as Core
  const line = { kind: 'unofficial', baseUrl: 'http://one', apiKey: null, session: 's', engine: 'noweb' } as const
  const state = { downloads: 0, answer: async (_signal: AbortSignal): Promise<MediaDownload> => found() }
  const marks = new Set<string>()
  const kept: string[] = []
  const disk = { trouble: null as Error | null }
  const store: Pick<MediaStore, 'want' | 'unwant' | 'keep' | 'discard'> = {
    want: async ({ messageId }) => void marks.add(messageId),
    unwant: async ({ messageId }) => void marks.delete(messageId),
    async keep({ messageId }, _key, type, _created, body) {
      for await (const _piece of body) if (disk.trouble) throw disk.trouble
      kept.push(`${messageId} ${type}`)
      return 1
    },
    discard: async ({ messageId }) => void kept.splice(kept.indexOf(messageId), 1)
  }
  const fetcher = createMediaFetcher({
    core,
    lines: { of: async () => line, appSecret: async () => null },
    downloads: {
      async download(_line, _file, signal) {
        state.downloads++
        return state.answer(signal)
      },
      close: async () => undefined
    },
    store: store as MediaStore
  })
  let messages = 0
  async function arrives(kind: 'media' | 'text' = 'media'): Promise<MessageReceived['data']> {
    const media = { media: 'image', mediaId: 'p', mimeType: 'image/png', filename: null, fileSize: null, path: '/x' }
    const received = await receive(
      core,
      { seen: async (_channel, contact) => contact },
      channel,
      {
        kind: 'inbound',
        providerId: `3A${++messages}`,
        from: '5511900000001',
        alias: null,
        profileName: null,
        quotedProviderId: null,
        providerAt: null,
        message: kind === 'text' ? { kind, text: 'Hello' } : ({ kind, ...media } as never)
      },
      'tr_1'
    )
    if (!received) throw new Error('it was there before')
    fetcher.received(received)
    return received
  }
  const ring = async (): Promise<number> => {
    const timer = await eventually('a timer', () => timers.shift())
    timer.call()
    return timer.ms
  }
  return { arrives, ring, fetcher, state, marks, kept, disk, timers, said, keyring, core }
}

t.test('it is tried again within the time that the instance keeps a file, then left to the request', async t => {
  const { arrives, ring, state, marks, kept, said, timers } = await rig(t)
  state.answer = async () => away
  const { messageId } = await arrives()
  const waits: number[] = []
  for (let n = 0; n < 4; n++) waits.push(await ring())
  await eventually('the end', () => marks.size === 0)
  t.equal(state.downloads, 5)
  t.ok(waits.reduce((sum, ms) => sum + ms) < 180_000)
  t.same([timers, kept], [[], []])
  t.match(said.at(-1), ['warn', /left to the request/])

  const second = await arrives()
  await eventually('a retry to come', () => timers.length === 1)
  state.answer = async () => found()
  await ring()
  await eventually('the file', () => kept.length === 1)
  t.same(kept, [`${second.messageId} image/png`])
  t.not(second.messageId, messageId)
  await eventually('no mark', () => marks.size === 0)
})

t.test('what is gone, too large or finds the disk full is not tried again', async t => {
  const { arrives, state, marks, said, timers, disk } = await rig(t)
  for (const kind of ['gone', 'too_large'] as const) {
    state.answer = async () => ({ kind })
    const before = state.downloads
    await arrives()
    await eventually(kind, () => state.downloads === before + 1 && marks.size === 0)
  }
  t.same(said, [])
  state.answer = async () => found()
  disk.trouble = failure('ENOSPC')
  await arrives()
  await eventually('the operator is told', () => said.length === 1 && marks.size === 0)
  t.match(said, [['error', /disk of MEDIA_DIR is full/]])
  disk.trouble = failure('UND_ERR_RES_EXCEEDED_MAX_SIZE')
  const before = state.downloads
  await arrives()
  await eventually('the end', () => state.downloads === before + 1 && marks.size === 0)
  t.same(timers, [])
})

t.test('a message without an attachment is none of its business, and one is fetched once', async t => {
  const { arrives, fetcher, state, marks, kept } = await rig(t)
  await arrives('text')
  const { promise, resolve } = hold<MediaDownload>()
  state.answer = () => promise
  const data = await arrives()
  fetcher.received(data)
  fetcher.received({ ...data, channelKind: 'official', messageId: id('msg', '1') })
  await eventually('the download', () => state.downloads === 1)
  resolve(found())
  await eventually('the file', () => kept.length === 1 && marks.size === 0)
  t.equal(state.downloads, 1)
})

t.test('an erased contact ends its fetches, and a late file is thrown away', async t => {
  const { arrives, fetcher, state, marks, kept, keyring, core } = await rig(t)
  let ended = false
  state.answer = signal =>
    new Promise(resolve =>
      signal.addEventListener('abort', () => {
        ended = true
        resolve(away)
      })
    )
  const { contactId } = await arrives()
  await eventually('the download', () => state.downloads === 1)
  fetcher.forget(id('ct', '9'))
  t.notOk(ended)
  fetcher.forget(contactId)
  await eventually('its end', () => ended && marks.size === 0)

  const { promise, resolve } = hold<MediaDownload>()
  state.answer = () => promise
  const again = await arrives()
  await eventually('the second download', () => state.downloads === 2)
  const contact = await keyring.contact(TENANT, again.contactId)
  await core.log.erase(contact?.stream ?? '')
  keyring.forgetContact(again.contactId)
  resolve(found())
  await eventually('the end', () => marks.size === 0)
  t.same(kept, [])
})

t.test('a stop leaves the marks, and the next start takes them up', async t => {
  const { arrives, fetcher, state, marks, timers, kept, core } = await rig(t)
  state.answer = async () => away
  const { tenantId, contactId, messageId } = await arrives()
  await eventually('a retry to come', () => timers.length === 1)
  await fetcher.stop()
  t.same([timers, [...marks]], [[], [messageId]])
  fetcher.received({ ...(await first(core, messageId)), messageId })
  t.equal(state.downloads, 1, 'nothing begins any more')

  const next = await rig(t)
  const place: MediaPlace = { tenantId, contactId, messageId }
  next.fetcher.resume([place])
  t.equal(next.marks.size, 1)
  await eventually('an end without such a message', () => next.marks.size === 0 && next.state.downloads === 0)
  const known = await next.arrives()
  await eventually('the file', () => next.kept.length === 1)
  next.fetcher.resume([{ tenantId: TENANT, contactId: known.contactId, messageId: known.messageId }])
  await eventually('the file again', () => next.kept.length === 2)
  t.same(kept, [])
})

async function first(core: Core, messageId: string): Promise<MessageReceived['data']> {
  for await (const event of core.log.read(`message-${messageId}`)) return JSON.parse(event.body).data
  throw new Error('no such message')
}

function hold<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>(settle => {
    resolve = settle
  })
  return { promise, resolve }
}
