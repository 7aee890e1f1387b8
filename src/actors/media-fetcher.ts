/**
 * Received media is fetched as soon as its message is recorded, because the instance forgets the file within minutes
 * (decisions §7). What cannot be fetched is no loss of the message: the client's own request asks the instance again.
 */
import type { UnofficialLine } from '../connectors/port.ts'
import type { MediaDownloads } from '../connectors/unofficial/media.ts'
import type { MessageReceived } from '../domain/record.ts'
import { streamOf } from './aggregates.ts'
import type { Core } from './core.ts'
import type { Lines } from './lines.ts'
import { MediaTooLarge } from './media-file.ts'
import { createLanes } from './media-lanes.ts'
import { type MediaMessage, mediaMessage } from './media-message.ts'
import type { MediaPlace, MediaStore } from './media-store.ts'

export type MediaFetcher = {
  /** A message was recorded: its attachment is fetched, if it has one. Returns at once. */
  received(data: MessageReceived['data']): void
  /** Takes up what an earlier process left. */
  resume(places: readonly MediaPlace[]): void
  /** Ends the fetches of a contact. */
  forget(contactId: string): void
  stop(): Promise<void>
}
export type FetcherOptions = {
  readonly core: Core
  readonly lines: Lines
  readonly downloads: MediaDownloads
  readonly store: MediaStore
}
type Outcome = 'done' | 'again'

const LANE_LIMITS = { perLane: 4, overall: 16, waiting: 10_000 }
/** Fetches known at a time: waiting, running, or between two attempts. */
const FETCHES_MAX = 20_000
/** Waits between attempts: all of them fit into the 180 seconds that an instance keeps a file. */
const RETRY_MS = [1_000, 4_000, 15_000, 45_000]
const FETCH_MS_MAX = 300_000
/** A body that went past the limit without having said so. */
const TOO_LARGE = 'UND_ERR_RES_EXCEEDED_MAX_SIZE'
const DISK_FULL = new Set(['ENOSPC', 'EDQUOT'])

export function createMediaFetcher({ core, lines, downloads, store }: FetcherOptions): MediaFetcher {
  const { clock, logger } = core
  const lanes = createLanes(LANE_LIMITS)
  /** By message; each with what ends it. */
  const fetches = new Map<string, { readonly contactId: string; readonly ended: AbortController }>()
  const timers = new Set<() => void>()
  let stopping = false

  function take(place: MediaPlace): void {
    const { messageId, contactId } = place
    if (stopping || fetches.has(messageId)) return
    if (fetches.size >= FETCHES_MAX) {
      logger.warn({ messageId }, 'too many media to fetch: left to the request')
      return
    }
    const ended = new AbortController()
    fetches.set(messageId, { contactId, ended })
    store
      .want(place)
      .catch(error => troubled(place, error))
      .then(() => attempt(place, ended.signal, 0))
      .catch(error => {
        troubled(place, error)
        return finish(place)
      })
  }

  async function attempt(place: MediaPlace, signal: AbortSignal, tries: number): Promise<void> {
    const message = await mediaMessage(core, place.messageId)
    const line = message && (await lineOf(message.channelId))
    if (!message || !line || signal.aborted) return finish(place)
    const added = lanes.add(line.baseUrl, async () => {
      const outcome = await fetchOnce(message, line, signal).catch(error => troubled(place, error))
      if (outcome === 'done' || signal.aborted) return finish(place)
      const waitMs = RETRY_MS[tries]
      if (waitMs === undefined) {
        logger.warn({ messageId: place.messageId }, 'a received medium could not be fetched: left to the request')
        return finish(place)
      }
      later(waitMs, () => {
        attempt(place, signal, tries + 1).catch(error => {
          troubled(place, error)
          return finish(place)
        })
      })
    })
    if (added) return
    logger.warn({ messageId: place.messageId }, 'too many media wait to be fetched: left to the request')
    await finish(place)
  }

  async function lineOf(channelId: string): Promise<UnofficialLine | null> {
    const line = await lines.of(await core.aggregates.channels.read(streamOf.channel(channelId)))
    return line?.kind === 'unofficial' ? line : null
  }

  async function fetchOnce(message: MediaMessage, line: UnofficialLine, ended: AbortSignal): Promise<Outcome> {
    const { place, file, contactKey, type, receivedAt } = message
    const signal = AbortSignal.any([ended, AbortSignal.timeout(FETCH_MS_MAX)])
    const download = await downloads.download(line, file, signal)
    if (download.kind === 'unavailable') return 'again'
    if (download.kind !== 'found') return 'done'
    try {
      await store.keep(place, contactKey, type, receivedAt, download.body)
    } catch (error) {
      download.body.destroy()
      if (ended.aborted) return 'done'
      return troubled(place, error)
    }
    // Erased while it was written: nobody could read it, and nobody needs it.
    if (!(await core.keyring.contact(place.tenantId, place.contactId))) await store.discard(place)
    return 'done'
  }

  /** Says what went wrong, by its code alone; a full disk is not tried again, for the next attempt only makes it fuller. */
  function troubled({ messageId }: MediaPlace, error: unknown): Outcome {
    const { code } = error as { code?: string }
    if (error instanceof MediaTooLarge || code === TOO_LARGE) return 'done'
    if (code !== undefined && DISK_FULL.has(code)) {
      logger.error({ messageId, code }, 'the disk of MEDIA_DIR is full: received media is not kept')
      return 'done'
    }
    logger.warn({ messageId, code: code ?? (error as Error).name }, 'fetching a received medium failed')
    return 'again'
  }

  async function finish(place: MediaPlace): Promise<void> {
    fetches.delete(place.messageId)
    // The mark of what a stop cut off stays, and the next start takes it up.
    if (!stopping) await store.unwant(place).catch(error => troubled(place, error))
  }

  function later(waitMs: number, call: () => void): void {
    const cancel = clock.after(waitMs, () => {
      timers.delete(cancel)
      call()
    })
    timers.add(cancel)
  }

  return {
    received({ tenantId, contactId, messageId, channelKind, contentKind }) {
      if (channelKind === 'unofficial' && contentKind === 'media') take({ tenantId, contactId, messageId })
    },
    resume(places) {
      for (const place of places) take(place)
    },
    forget(contactId) {
      for (const fetch of fetches.values()) if (fetch.contactId === contactId) fetch.ended.abort()
    },
    async stop() {
      stopping = true
      for (const cancel of timers) cancel()
      for (const { ended } of fetches.values()) ended.abort()
      await lanes.stop()
    }
  }
}
