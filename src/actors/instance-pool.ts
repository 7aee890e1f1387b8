/** Which instance hosts a new session: one of the pool with room, or the tenant's own. */
import type { Engine, UnofficialConnector } from '../connectors/port.ts'
import { streamOf } from './aggregates.ts'
import { type Core, ok, type Result, refuse } from './core.ts'
import type { AttemptInput } from './pairing.ts'

export type PoolInstance = {
  readonly baseUrl: string
  readonly apiKey: string | null
  readonly engine: Engine
  readonly capacity: number
}
export type Place = {
  readonly baseUrl: string
  readonly engine: string
  readonly own: boolean
  /** The instance was asked and cannot host it: the attempt fails with this. */
  readonly failure: string | null
}
export type InstancePool = {
  take(reference: string, input: AttemptInput): Promise<Result<Place>>
  release(reference: string): void
  /** The attempt's place is the channel's from now on. */
  promote(attemptId: string, channelId: string): void
  /** A session that an earlier process placed. */
  occupy(reference: string, baseUrl: string): void
  apiKey(baseUrl: string): string | null
}
export type PoolOptions = {
  readonly instances: readonly PoolInstance[]
  readonly unofficial: Pick<UnofficialConnector, 'probe'>
  /** PROVIDER_ALLOWED_BASE_URLS. */
  readonly allowedBaseUrls: readonly string[]
}

const bare = (url: string): string => url.replace(/\/+$/, '')

export function createInstancePool(options: PoolOptions): InstancePool {
  const placed = new Map<string, string>()
  const allowed = new Set(options.allowedBaseUrls.map(bare))

  const used = (baseUrl: string): number => [...placed.values()].filter(url => url === baseUrl).length
  const hasRoom = (instance: PoolInstance): boolean => used(instance.baseUrl) < instance.capacity

  async function own(reference: string, credentials: NonNullable<AttemptInput['credentials']>): Promise<Result<Place>> {
    const baseUrl = bare(credentials.baseUrl)
    if (!allowed.has(baseUrl)) return refuse('outbound_address_blocked')
    const probed = await options.unofficial.probe({ baseUrl, apiKey: credentials.apiKey ?? null })
    placed.set(reference, baseUrl)
    if (probed.kind === 'ok') return ok({ baseUrl, engine: probed.value.engine, own: true, failure: null })
    const failure = probed.kind === 'unavailable' ? 'instance_unreachable' : probed.code
    return ok({ baseUrl, engine: 'unknown', own: true, failure })
  }

  return {
    async take(reference, input) {
      if (input.credentials) return own(reference, input.credentials)
      const free = options.instances.filter(hasRoom)
      const chosen = free.find(instance => instance.engine === input.preferredEngine) ?? free[0]
      if (!chosen) return refuse('no_unofficial_instance_available')
      placed.set(reference, chosen.baseUrl)
      return ok({ baseUrl: chosen.baseUrl, engine: chosen.engine, own: false, failure: null })
    },
    release: reference => void placed.delete(reference),
    promote(attemptId, channelId) {
      const baseUrl = placed.get(attemptId)
      if (baseUrl === undefined) return
      placed.delete(attemptId)
      placed.set(channelId, baseUrl)
    },
    occupy: (reference, baseUrl) => void placed.set(reference, baseUrl),
    apiKey: baseUrl => options.instances.find(instance => instance.baseUrl === baseUrl)?.apiKey ?? null
  }
}

/** Sessions that earlier processes placed, of attempts and numbers. */
export async function placeSessions({ views, aggregates }: Core, pool: InstancePool): Promise<void> {
  for (const attemptId of views.liveAttempts()) {
    const { session } = await aggregates.attempts.read(streamOf.attempt(attemptId))
    if (session) pool.occupy(attemptId, session.baseUrl)
  }
  for (const channelId of views.channelIds()) {
    const { session } = await aggregates.channels.read(streamOf.channel(channelId))
    if (session) pool.occupy(channelId, session.baseUrl)
  }
}
