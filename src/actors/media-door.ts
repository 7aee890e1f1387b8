/** Bytes of received media for clients: from our own file, else straight from the instance (channel-service, media). */
import type { Readable } from 'node:stream'
import type { MediaDownloads } from '../connectors/unofficial/media.ts'
import { isId } from '../domain/ids.ts'
import { streamOf } from './aggregates.ts'
import { type Asker, type Core, ok, type Result, refuse } from './core.ts'
import type { Lines } from './lines.ts'
import { type MediaMessage, mediaMessage } from './media-message.ts'
import { cutTo } from './media-range.ts'
import type { MediaStore } from './media-store.ts'

export type MediaItem = {
  /** As the sender's client named it: not to be trusted. */
  readonly type: string
  readonly filename: string | null
  /** Bytes; null when the instance does not say, and then there are no ranges. */
  readonly size: number | null
  /** `range`: first and last byte, both included; null: all. Called once at most; the stream is read to its end or destroyed. */
  body(range: { readonly first: number; readonly last: number } | null): Readable
  /** For whoever wants no body. */
  discard(): void
}
export type MediaDoor = {
  /** `mediaId` is the `msg_…` id of the received message. */
  open(asker: Asker, channelId: string, mediaId: string): Promise<Result<MediaItem>>
}
export type DoorOptions = {
  readonly core: Core
  readonly lines: Lines
  readonly downloads: MediaDownloads
  readonly store: MediaStore
  readonly retentionMs: number
}

/** Bodies passed through from instances at a time. */
const DIRECT_MAX = 64
/** A client that takes longer than this for one body holds up others. */
const DIRECT_MS_MAX = 600_000
const UNNAMED_TYPE = 'application/octet-stream'

export function createMediaDoor({ core, lines, downloads, store, retentionMs }: DoorOptions): MediaDoor {
  const { views, clock, logger } = core
  let direct = 0

  async function fromFile({ place, contactKey, filename, type }: MediaMessage): Promise<MediaItem | null> {
    const file = await store.open(place, contactKey).catch((error: NodeJS.ErrnoException) => {
      logger.error({ messageId: place.messageId, code: error.code }, 'MEDIA_DIR cannot be read')
      return { kind: 'missing' } as const
    })
    if (file.kind === 'open') {
      const { size } = file
      const body: MediaItem['body'] = range => file.body(range?.first ?? 0, range?.last ?? size - 1)
      return { type: typeOf(type, file.type), filename, size, body, discard: () => void file.close() }
    }
    if (file.kind === 'damaged') {
      logger.error({ messageId: place.messageId }, 'a stored medium is damaged: it is asked of the instance again')
      await store.discard(place)
    }
    return null
  }

  async function fromInstance(message: MediaMessage): Promise<Result<MediaItem>> {
    const line = await lines.of(await core.aggregates.channels.read(streamOf.channel(message.channelId)))
    if (line?.kind !== 'unofficial') return refuse('resource_not_found')
    if (direct >= DIRECT_MAX) return refuse('overloaded')
    direct++
    const download = await downloads.download(line, message.file, AbortSignal.timeout(DIRECT_MS_MAX))
    if (download.kind !== 'found') {
      direct--
      return refuse(download.kind === 'unavailable' ? 'provider_unavailable' : 'resource_not_found')
    }
    const { size, body } = download
    body.once('close', () => direct--)
    return ok({
      type: typeOf(message.type, download.type),
      filename: message.filename,
      size,
      body: range => (range === null ? body : cutTo(body, range)),
      discard: () => void body.destroy()
    })
  }

  return {
    async open(asker, channelId, mediaId) {
      const { tenantId } = asker
      await core.own.settled(tenantId)
      const channel = views.channel(tenantId, channelId)
      if (!channel || channel.state === 'deleted') return refuse('channel_not_found')
      if (channel.kind === 'official' || !isId('msg', mediaId)) return refuse('resource_not_found')
      const message = await mediaMessage(core, mediaId)
      if (message?.place.tenantId !== tenantId || message.channelId !== channelId) return refuse('resource_not_found')
      if (Date.parse(message.receivedAt) + retentionMs <= clock.now()) return refuse('resource_not_found')
      const item = await fromFile(message)
      return item ? ok(item) : fromInstance(message)
    }
  }
}

/** What the message said, unless that was nothing and the instance knows better. */
const typeOf = (told: string, found: string | null): string => (told === UNNAMED_TYPE && found !== null ? found : told)
