/** What calls the outside world: both platforms, their media, and the receivers of webhooks. */
import { MEDIA_BYTES_MAX } from '../actors/media-file.ts'
import type { Settings } from '../config/settings.ts'
import { createOfficialConnector } from '../connectors/official/connector.ts'
import { createUnofficialConnector } from '../connectors/unofficial/connector.ts'
import { createMediaDownloads } from '../connectors/unofficial/media.ts'
import { createGuard } from '../connectors/webhook/guard.ts'
import { createWebhookPoster } from '../connectors/webhook/post.ts'
import type { Platforms } from './platforms.ts'
import { version } from './version.ts'

/** Posts in flight to one destination. */
export const DELIVERIES_AT_ONCE = 16

export function createConnectors({ providers, webhooks }: Settings, platforms: Platforms) {
  const { timeoutMs } = providers
  const official = createOfficialConnector({ baseUrl: platforms.officialBaseUrl, timeoutMs })
  const unofficial = createUnofficialConnector({ timeoutMs })
  const downloads = createMediaDownloads({ timeoutMs, bytesMax: MEDIA_BYTES_MAX })
  const guard = createGuard({ allowedCidrs: [...webhooks.allowedCidrs, ...platforms.reachableCidrs] })
  const poster = createWebhookPoster({
    guard,
    timeoutMs: webhooks.timeoutMs,
    userAgent: `ledgerline/${version}`,
    maxConnectionsPerOrigin: DELIVERIES_AT_ONCE,
    ...(webhooks.sourceAddress === null ? {} : { sourceAddress: webhooks.sourceAddress })
  })
  return {
    official,
    unofficial,
    downloads,
    guard,
    poster,
    async close(): Promise<void> {
      await Promise.all([official.close(), unofficial.close(), downloads.close(), poster.close()])
    }
  }
}
