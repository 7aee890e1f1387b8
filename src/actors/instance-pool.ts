/**
 * Which instance hosts a new session: one of the pool with room, or the tenant's own. What is taken is counted from the
 * log, through the views: the same on every node, and after every start.
 */
import type { Engine, UnofficialConnector } from '../connectors/port.ts'
import type { Views } from '../projections/port.ts'
import { ok, type Result, refuse } from './core.ts'
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
  /** A place that is free as far as this node knows. */
  find(input: AttemptInput): Promise<Result<Place>>
  /**
   * Whether a session that the log now places there is within the instance's capacity. Where several nodes gave the last
   * place away, who comes first in the log has it; so the views must have passed the session's start.
   */
  holds(place: Place, session: string): boolean
  apiKey(baseUrl: string): string | null
}
export type PoolOptions = {
  readonly instances: readonly PoolInstance[]
  readonly views: Pick<Views, 'sessionsOn' | 'sessionsBefore'>
  readonly unofficial: Pick<UnofficialConnector, 'probe'>
  /** PROVIDER_ALLOWED_BASE_URLS. */
  readonly allowedBaseUrls: readonly string[]
}

const bare = (url: string): string => url.replace(/\/+$/, '')

export function createInstancePool(options: PoolOptions): InstancePool {
  const { instances, views } = options
  const allowed = new Set(options.allowedBaseUrls.map(bare))
  const hasRoom = ({ baseUrl, capacity }: PoolInstance): boolean => views.sessionsOn(baseUrl) < capacity

  async function own(credentials: NonNullable<AttemptInput['credentials']>): Promise<Result<Place>> {
    const baseUrl = bare(credentials.baseUrl)
    if (!allowed.has(baseUrl)) return refuse('outbound_address_blocked')
    const probed = await options.unofficial.probe({ baseUrl, apiKey: credentials.apiKey ?? null })
    if (probed.kind === 'ok') return ok({ baseUrl, engine: probed.value.engine, own: true, failure: null })
    const failure = probed.kind === 'unavailable' ? 'instance_unreachable' : probed.code
    return ok({ baseUrl, engine: 'unknown', own: true, failure })
  }

  return {
    async find(input) {
      if (input.credentials) return own(input.credentials)
      const free = instances.filter(hasRoom)
      const chosen = free.find(instance => instance.engine === input.preferredEngine) ?? free[0]
      if (!chosen) return refuse('no_unofficial_instance_available')
      return ok({ baseUrl: chosen.baseUrl, engine: chosen.engine, own: false, failure: null })
    },
    holds({ baseUrl, own }, session) {
      if (own) return true
      const instance = instances.find(one => one.baseUrl === baseUrl)
      const before = views.sessionsBefore(session)
      // An attempt that is over already holds no place.
      return instance !== undefined && (before === null || before < instance.capacity)
    },
    apiKey: baseUrl => instances.find(instance => instance.baseUrl === baseUrl)?.apiKey ?? null
  }
}
