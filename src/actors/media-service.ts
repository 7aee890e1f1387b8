/** Received media of unofficial numbers, put together: fetched on arrival, kept for a while, served, swept, erased. */
import type { MediaDownloads } from '../connectors/unofficial/media.ts'
import type { MessageReceived } from '../domain/record.ts'
import type { Core } from './core.ts'
import type { Lines } from './lines.ts'
import { createMediaDoor, type MediaDoor } from './media-door.ts'
import { createMediaFetcher } from './media-fetcher.ts'
import { createMediaStore } from './media-store.ts'

export type Media = {
  readonly door: MediaDoor
  /** A message was recorded. Returns at once: nothing waits for its attachment. */
  received(data: MessageReceived['data']): void
  /** Ends the fetches of a contact and removes its files (erasure, before the contact's key goes). */
  remove(tenantId: string, contactId: string): Promise<void>
  /** Takes up what an earlier process left to fetch, and begins to sweep. */
  start(): void
  stop(): Promise<void>
}
export type MediaOptions = {
  readonly core: Core
  readonly lines: Lines
  readonly downloads: MediaDownloads
  /** MEDIA_DIR */
  readonly directory: string
  readonly retentionMs: number
}

const SWEEP_MS_MIN = 1_000
const SWEEP_MS_MAX = 900_000

export function createMedia({ core, lines, downloads, directory, retentionMs }: MediaOptions): Media {
  const { clock, logger } = core
  const store = createMediaStore(directory, retentionMs)
  const fetcher = createMediaFetcher({ core, lines, downloads, store })
  const everyMs = Math.min(Math.max(retentionMs / 4, SWEEP_MS_MIN), SWEEP_MS_MAX)
  let sweeping: Promise<void> = Promise.resolve()
  let cancel: (() => void) | null = null
  let stopped = false

  async function sweep(isFirst: boolean): Promise<void> {
    try {
      const wanted = await store.sweep(clock.now())
      if (isFirst) fetcher.resume(wanted)
    } catch (error) {
      logger.error({ code: (error as { code?: string }).code }, 'MEDIA_DIR could not be swept')
    }
    if (!stopped) cancel = clock.after(everyMs, () => begin(false))
  }

  function begin(isFirst: boolean): void {
    sweeping = sweep(isFirst)
  }

  return {
    door: createMediaDoor({ core, lines, downloads, store, retentionMs }),
    received: fetcher.received,
    async remove(tenantId, contactId) {
      fetcher.forget(contactId)
      await store.remove(tenantId, contactId)
    },
    start: () => begin(true),
    async stop() {
      stopped = true
      cancel?.()
      await Promise.all([fetcher.stop(), sweeping])
    }
  }
}
