import t from 'tap'
import { formatProblems } from '../../src/config/problems.ts'
import { loadSettings, type Settings, type Variables } from '../../src/config/settings.ts'

const machine = { hostName: 'box', processId: 42 }
const key = Buffer.alloc(32, 7).toString('base64')
const pool = [{ baseUrl: 'https://one.test/', apiKey: 'k1', engine: 'webjs', capacity: 50 }]

const load = (variables: Variables): Settings => {
  const loaded = loadSettings(variables, machine)
  if (!loaded.ok) throw new Error(formatProblems(loaded.problems))
  return loaded.settings
}

const problemsOf = (variables: Variables) => {
  const loaded = loadSettings(variables, machine)
  return loaded.ok ? [] : loaded.problems
}

t.test('nothing set: the documented defaults', async t => {
  t.same(load({}), {
    nodeId: 'box-42',
    isProduction: false,
    logLevel: 'info',
    listen: {
      host: '127.0.0.1',
      port: 3000,
      instanceApiPort: 3001,
      opsHost: '127.0.0.1',
      opsPort: 9464,
      publicUrl: 'http://127.0.0.1:3000'
    },
    storage: {
      dataDir: './data',
      eventStoreUrl: null,
      eventStoreStreamPrefix: '',
      redisUrl: null,
      singleNode: false,
      anchorFile: null,
      mediaDir: 'data/media',
      mediaRetentionMs: 86_400_000,
      messageRetentionMs: 0,
      deliveryLogMs: 2_592_000_000
    },
    keys: { masterKey: null, masterKeyPrevious: null, masterApiKey: null },
    providers: {
      sandbox: true,
      timeoutMs: 30_000,
      allowedBaseUrls: [],
      official: { apiBaseUrl: null, appId: null, appSecret: null, verifyToken: null, signupConfigId: null },
      unofficial: { instances: [], webhookSecret: null, sessionPollMs: 30_000, sessionDownGraceMs: 15_000 }
    },
    webhooks: {
      sourceAddress: null,
      allowedCidrs: [],
      retryMs: [5_000, 30_000, 120_000, 600_000, 3_600_000, 14_400_000, 43_200_000],
      timeoutMs: 10_000
    },
    messaging: {
      attemptTtlMs: 600_000,
      quarantineMs: 0,
      rateLimitPerMinute: 60,
      concurrencyOfficial: 32,
      concurrencyUnofficial: 4,
      maxAttempts: 5,
      backoffMs: [2_000, 10_000, 60_000, 300_000],
      indeterminateTimeoutMs: 600_000,
      breakerFailures: 10,
      breakerWindowMs: 300_000,
      enforce24hWindow: false,
      optOutKeywords: [],
      optInKeywords: ['start']
    },
    cluster: { leaseMs: 10_000, shutdownMs: 20_000 },
    requestLimitPerMinute: 6000
  })
})

t.test('EventStoreDB needs a master key, and Redis unless there is a single node', async t => {
  const url = 'esdb://localhost:2113'
  const missing = (more: Variables) => problemsOf({ EVENTSTORE_URL: url, ...more }).map(problem => problem.variable)
  t.same(missing({}), ['REDIS_URL', 'MASTER_KEY'])
  t.same(missing({ SINGLE_NODE: 'true' }), ['MASTER_KEY'])
  t.same(missing({ SINGLE_NODE: 'false', MASTER_KEY: key }), ['REDIS_URL'])
  t.same(missing({ SINGLE_NODE: 'true', MASTER_KEY: key }), [])
  t.same(missing({ REDIS_URL: 'redis://r', MASTER_KEY: key }), [])
  t.match(
    formatProblems(problemsOf({ EVENTSTORE_URL: url })),
    /REDIS_URL holds nothing; allowed: .*SINGLE_NODE=true\nMASTER_KEY/
  )
})

t.test('the sandbox starts by itself only where nothing real is configured', async t => {
  const started = (variables: Variables) => load(variables).providers.sandbox
  const eventStore = { EVENTSTORE_URL: 'esdb://h', SINGLE_NODE: 'true', MASTER_KEY: key }
  t.ok(started({ NODE_ENV: 'development', UNOFFICIAL_INSTANCES: '[]' }))
  t.ok(started({ NODE_ENV: 'production', SANDBOX: 'true' }))
  t.ok(started({ ...eventStore, SANDBOX: 'true' }))
  t.notOk(started(eventStore))
  t.notOk(started({ NODE_ENV: 'production' }))
  t.equal(load({ SANDBOX: 'false' }).providers.official.apiBaseUrl, 'https://graph.facebook.com/v23.0')
})

t.test('the public URL follows the listener, and waits for the port where any will do', async t => {
  t.equal(load({ HOST: '::1', PORT: '8080' }).listen.publicUrl, 'http://[::1]:8080')
  t.equal(load({ PORT: '0' }).listen.publicUrl, null)
  t.equal(load({ PORT: '0', PUBLIC_URL: 'https://p.test' }).listen.publicUrl, 'https://p.test')
})

t.test('an instance without a key has none', async t => {
  const { apiKey: _, ...open } = pool[0] ?? {}
  const read = (instances: unknown) =>
    load({ UNOFFICIAL_INSTANCES: JSON.stringify(instances) }).providers.unofficial.instances
  for (const one of [open, { ...open, apiKey: '' }, { ...open, apiKey: null }]) t.match(read([one]), [{ apiKey: null }])
})
