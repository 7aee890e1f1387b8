/** Several nodes of the service on one log, as processes, beside simulators of both platforms. */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { askService } from '../../src/cli/ask-service.ts'
import type { OfficialSimulatorOptions } from '../../src/connectors/sandbox/official/server.ts'
import type { UnofficialSimulatorOptions } from '../../src/connectors/sandbox/unofficial/server.ts'
import { type RedisServer, startRedis } from '../coordination/redis-server.ts'
import { freePort } from '../support/http.ts'
import { temporaryDirectory } from '../support/log.ts'
import { APP_SECRET, INSTANCE_KEY, startOfficial, startUnofficial, VERIFY_TOKEN } from '../support/platforms.ts'
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts'
import { createTenant } from '../support/tenant.ts'
import { startBalancer } from './balancer.ts'
import { startLogServer } from './log-server.ts'

type Scope = { teardown(run: () => unknown): unknown; comment(text: string): void; passing(): boolean }

export type Node = ServiceProcess & { readonly name: string; readonly dataDir: string }
export type Issued = { readonly tenantId: string; readonly apiKey: string }

export type ClusterOptions = {
  readonly nodes: number
  readonly settings?: Readonly<Record<string, string>>
  readonly official?: Partial<OfficialSimulatorOptions>
  readonly unofficial?: Partial<UnofficialSimulatorOptions>
  /** Sessions that the pool's one instance holds. */
  readonly capacity?: number
  /** Every node on a Redis of its own: none knows of the others' leases. */
  readonly separateRedis?: boolean
}

const SETTINGS: Readonly<Record<string, string>> = {
  RATE_LIMIT_PER_MINUTE: '0',
  REQUEST_LIMIT_PER_MINUTE: '0',
  OUTBOUND_ALLOWED_CIDRS: '127.0.0.0/8',
  WEBHOOK_RETRY_SECONDS: '0.2,0.2,0.5,0.5,1,1,1,2,2,2',
  WEBHOOK_TIMEOUT_SECONDS: '5',
  DISPATCH_BACKOFF_SECONDS: '0.1,0.2,0.5,1',
  PROVIDER_TIMEOUT_SECONDS: '5',
  SESSION_POLL_SECONDS: '1',
  SESSION_DOWN_GRACE_SECONDS: '0.3',
  LEASE_SECONDS: '5',
  LOG_LEVEL: 'warn'
}

export async function startCluster(t: Scope, options: ClusterOptions) {
  const home = temporaryDirectory(t)
  const log = await startLogServer(t)
  const redis: RedisServer[] = []
  const ports: number[] = []
  const balancer = await startBalancer(t, ports)
  const official = await startOfficial(t, balancer.url, options.official)
  const unofficial = await startUnofficial(t, options.unofficial)
  const engine = (options.unofficial?.engine ?? 'NOWEB').toLowerCase()
  const instance = { baseUrl: unofficial.url, apiKey: INSTANCE_KEY, engine, capacity: options.capacity ?? 20 }
  const shared = {
    ...SETTINGS,
    EVENTSTORE_URL: log.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    PUBLIC_URL: balancer.url,
    INSTANCE_API_PORT: '0',
    OPS_PORT: '0',
    MEDIA_DIR: join(home, 'media'),
    OFFICIAL_API_BASE_URL: official.graphUrl,
    OFFICIAL_APP_SECRET: APP_SECRET,
    OFFICIAL_VERIFY_TOKEN: VERIFY_TOKEN,
    UNOFFICIAL_INSTANCES: JSON.stringify([instance]),
    ...options.settings
  }

  /** A further node with views of its own; it is not started yet. */
  async function node(name: string): Promise<Node> {
    const known = options.separateRedis ? undefined : redis[0]
    const its = known ?? (await startRedis(t))
    if (known === undefined) redis.push(its)
    const port = await freePort()
    const dataDir = join(home, name)
    mkdirSync(dataDir)
    const env = { ...shared, REDIS_URL: its.url, NODE_ID: name, PORT: String(port), DATA_DIR: dataDir }
    ports.push(port)
    return { ...serviceProcess(t, { url: `http://127.0.0.1:${port}`, env, cwd: home }), name, dataDir }
  }

  const nodes: Node[] = []
  for (let number = 1; number <= options.nodes; number++) nodes.push(await node(`node-${number}`))
  await Promise.all(nodes.map(one => one.start()))
  return {
    nodes,
    log,
    redis,
    official,
    unofficial,
    /** Reaches whichever node takes the connection. */
    url: balancer.url,
    node,
    /** A tenant of this name, with a key that is made on the first node. */
    async issue(name: string, permissions?: readonly string[]): Promise<Issued> {
      const key = { name: 'test', ...(permissions ? { permissions } : {}) } as { name: string }
      const answer = await askService(nodes[0]?.dataDir ?? '', { command: 'keys create', tenant: name, key })
      if (!answer?.ok) throw new Error(`no key for ${name}: ${answer?.code ?? 'nobody answers'}`)
      return answer.value as Issued
    },
    /** The same tenant as each node serves it, and as the balancer does. */
    seenBy(issued: Issued) {
      return { anywhere: createTenant(balancer.url, issued), each: nodes.map(({ url }) => createTenant(url, issued)) }
    }
  }
}
