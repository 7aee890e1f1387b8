/** The workspace's templates: its own, for unofficial numbers, and those that the official platform lists (decisions §4). */
import type { OfficialConnector } from '../connectors/port.ts'
import type { TemplateObserved, TemplateRemoved, TemplateSaved, TemplateText } from '../domain/record.ts'
import { LogUnavailable, NO_STREAM } from '../log/port.ts'
import type { ChannelRow, ListPage, TemplateRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import { type Asker, askedBy, type Core, now, ok, ownCommand, type Result, record, refuse } from './core.ts'
import type { Lines } from './lines.ts'

export type TemplateInput = TemplateText & { readonly name: string; readonly language: string }
export type Templates = {
  save(asker: Asker, input: TemplateInput): Promise<Result<TemplateRow>>
  remove(asker: Asker, name: string): Promise<Result<null>>
  list(asker: Asker, page: { limit: number; cursor: string | null }): Promise<ListPage<TemplateRow>>
  /** News of a template's status, from the platform. */
  heard(channel: ChannelRow, news: { name: string; language: string; status: string }, trace: string): Promise<void>
  /** Reads the platform's list for a number and records what is new. */
  sync(channelId: string): Promise<void>
  start(): void
  stop(): void
}
export type TemplatesOptions = { readonly core: Core; readonly lines: Lines; readonly official: OfficialConnector }

/** decisions §4. */
const SYNC_EVERY_MS = 6 * 3_600_000
const CONFLICTS_MAX = 20

export function createTemplates({ core, lines, official }: TemplatesOptions): Templates {
  const { views, aggregates, clock, logger } = core
  let cancel: (() => void) | null = null
  let stopped = false
  /** Connected numbers whose account has been read since they connected. */
  const readFor = new Set<string>()
  const revisions = new Map<string, number>()

  /** The stream has many writers and no state to decide on: a conflict only says where its end is. */
  async function append(
    tenantId: string,
    events: readonly (TemplateSaved | TemplateRemoved | TemplateObserved)[],
    context: ReturnType<typeof askedBy>
  ): Promise<void> {
    const stream = `templates-${tenantId}`
    let expected = revisions.get(stream) ?? NO_STREAM
    for (let tries = 0; tries < CONFLICTS_MAX; tries++) {
      const result = await record(core, stream, expected, events, context)
      if (result.kind === 'deleted' || result.kind === 'invalid') break
      expected = result.revision
      revisions.set(stream, expected)
      if (result.kind === 'appended') return core.own.configured(tenantId, result.position)
    }
    throw new LogUnavailable('template not recorded')
  }

  const observed = (tenantId: string, wabaId: string, name: string, language: string): TemplateRow | undefined =>
    views.templatesNamed(tenantId, name).find(row => row.wabaId === wabaId && row.language === language)

  async function sync(channelId: string): Promise<void> {
    const channel = await aggregates.channels.read(streamOf.channel(channelId))
    const line = channel.state === 'connected' ? await lines.of(channel) : null
    if (line?.kind !== 'official') return
    const listed = await official.templates(line)
    if (listed.kind !== 'ok') return
    for (const { name, language, status, category, body, header, footer } of listed.value) {
      const text: TemplateText | null =
        body === null ? null : { body, ...(header === null ? {} : { header }), ...(footer === null ? {} : { footer }) }
      const known = observed(channel.tenantId, line.wabaId, name, language)
      if (known?.status === status && JSON.stringify(known.text) === JSON.stringify(text)) continue
      const event: TemplateObserved = {
        type: 'TemplateObserved',
        at: now(core),
        data: {
          wabaId: line.wabaId,
          channelId,
          name,
          language,
          status,
          ...(category === null ? {} : { category }),
          ...(text === null ? {} : { text })
        }
      }
      await append(channel.tenantId, [event], ownCommand(core, channel.tenantId, 'supervisor'))
    }
  }

  /** A number that has just connected brings the templates of its account. */
  function onChannel(channelId: string): void {
    const row = views.channelById(channelId)
    if (row?.kind !== 'official' || row.state !== 'connected') readFor.delete(channelId)
    else if (!readFor.has(channelId) && core.works(channelId)) {
      readFor.add(channelId)
      sync(channelId).catch(error => logger.warn({ err: error, channelId }, 'templates could not be read'))
    }
  }

  views.onPage(({ touched }) => {
    if (!stopped) for (const channelId of touched.channel ?? []) onChannel(channelId)
  })

  function syncAll(): void {
    const work = async (): Promise<void> => {
      for (const channelId of views.channelIds()) if (core.works(channelId)) await sync(channelId)
    }
    work()
      .catch(error => logger.warn({ err: error }, 'templates could not be read'))
      .finally(() => {
        cancel = clock.after(SYNC_EVERY_MS, syncAll)
      })
  }

  return {
    sync,
    start: syncAll,
    stop() {
      stopped = true
      cancel?.()
    },
    async save(asker, { name, language, ...text }) {
      const event: TemplateSaved = { type: 'TemplateSaved', at: now(core), data: { name, language, text } }
      await append(asker.tenantId, [event], askedBy(asker))
      await core.own.settled(asker.tenantId)
      const row = views.template(asker.tenantId, name, language)
      return row ? ok(row) : refuse('overloaded')
    },
    async remove(asker, name) {
      await core.own.settled(asker.tenantId)
      if (!views.templatesNamed(asker.tenantId, name).some(row => row.source === 'workspace'))
        return refuse('resource_not_found')
      await append(asker.tenantId, [{ type: 'TemplateRemoved', at: now(core), data: { name } }], askedBy(asker))
      return ok(null)
    },
    async list(asker, { limit, cursor }) {
      await core.own.settled(asker.tenantId)
      return views.templates(asker.tenantId, limit, cursor)
    },
    async heard(channel, { name, language, status }, trace) {
      const { wabaId } = channel
      if (wabaId === null) return
      const known = observed(channel.tenantId, wabaId, name, language)
      // A repeated callback tells nothing new.
      if (known?.status === status) return
      const event: TemplateObserved = {
        type: 'TemplateObserved',
        at: now(core),
        data: { wabaId, channelId: channel.id, name, language, status, isNews: true }
      }
      await append(channel.tenantId, [event], ownCommand(core, channel.tenantId, 'callback', { trace }))
      sync(channel.id).catch(error => logger.warn({ err: error }, 'templates could not be read'))
    }
  }
}
