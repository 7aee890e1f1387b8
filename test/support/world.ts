/** The whole of it: the service as a process, both platforms, tenants with keys. Everything ends with the test. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { askService } from '../../src/cli/ask-service.ts'
import type { OfficialSimulatorOptions } from '../../src/connectors/sandbox/official/server.ts'
import type { UnofficialSimulatorOptions } from '../../src/connectors/sandbox/unofficial/server.ts'
import { freePort } from './http.ts'
import { temporaryDirectory } from './log.ts'
import { APP_SECRET, INSTANCE_KEY, startOfficial, startUnofficial, VERIFY_TOKEN } from './platforms.ts'
import { type ServiceProcess, serviceProcess } from './service-process.ts'
import { createTenant, type Tenant } from './tenant.ts'

type Scope = { teardown(run: () => unknown): unknown; comment(text: string): void; passing(): boolean }

type Issued = { readonly tenantId: string; readonly apiKey: string }

export type WorldOptions = {
  readonly settings?: Readonly<Record<string, string>>
  readonly official?: Partial<OfficialSimulatorOptions>
  readonly unofficial?: Partial<UnofficialSimulatorOptions>
  /** Sessions that the pool's one instance holds. */
  readonly capacity?: number
}

/** Waits that a test can live through; everything else as in production. */
const QUICK: Readonly<Record<string, string>> = {
  RATE_LIMIT_PER_MINUTE: '0',
  REQUEST_LIMIT_PER_MINUTE: '0',
  OUTBOUND_ALLOWED_CIDRS: '127.0.0.0/8',
  WEBHOOK_RETRY_SECONDS: '0.2,0.2,0.2,0.5,0.5,1,1,1,1,1',
  WEBHOOK_TIMEOUT_SECONDS: '2',
  DISPATCH_BACKOFF_SECONDS: '0.1',
  PROVIDER_TIMEOUT_SECONDS: '2',
  SESSION_POLL_SECONDS: '1',
  SESSION_DOWN_GRACE_SECONDS: '0.3',
  LOG_LEVEL: 'warn'
}

/** Settings of a service beside simulators of both platforms, on a port that stays the same over restarts. */
export async function startWorld(t: Scope, options: WorldOptions = {}) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const home = temporaryDirectory(t)
  const dataDir = join(home, 'data')
  mkdirSync(dataDir)
  const official = await startOfficial(t, url, options.official)
  const unofficial = await startUnofficial(t, options.unofficial)
  const engine = (options.unofficial?.engine ?? 'NOWEB').toLowerCase()
  const instance = { baseUrl: unofficial.url, apiKey: INSTANCE_KEY, engine, capacity: options.capacity ?? 20 }
  const env = {
    ...QUICK,
    PORT: String(port),
    INSTANCE_API_PORT: '0',
    OPS_PORT: '0',
    DATA_DIR: dataDir,
    OFFICIAL_API_BASE_URL: official.graphUrl,
    OFFICIAL_APP_SECRET: APP_SECRET,
    OFFICIAL_VERIFY_TOKEN: VERIFY_TOKEN,
    UNOFFICIAL_INSTANCES: JSON.stringify([instance]),
    ...options.settings
  }
  const service: ServiceProcess = serviceProcess(t, { url, env, cwd: home })
  await service.start()
  return {
    url,
    home,
    dataDir,
    env,
    service,
    official,
    unofficial,
    /** A tenant of this name with a key that may do everything but manage keys. */
    async tenant(name: string): Promise<Tenant> {
      const issued = await askService(dataDir, { command: 'keys create', tenant: name, key: { name: 'test' } })
      if (!issued?.ok) throw new Error(`no key for ${name}: ${issued?.code ?? 'nobody answers'}`)
      return createTenant(url, issued.value as Issued)
    }
  }
}
