import type { PoolInstance } from '../actors/instance-pool.ts'

/** Where the platforms are: from the settings, or the sandbox. */
export type Platforms = {
  readonly officialBaseUrl: string
  readonly appSecret: string | null
  readonly verifyToken: string | null
  readonly pool: readonly PoolInstance[]
  /** Ranges that webhooks may reach although they are private: the sandbox's own machine. */
  readonly reachableCidrs: readonly string[]
  /** Address that platforms call back. */
  readonly publicUrl: () => string
}
