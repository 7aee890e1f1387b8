import t from 'tap'
import { environment, type VariableName } from '../../src/config/environment.ts'
import { formatProblems } from '../../src/config/problems.ts'
import { loadSettings, type Settings, type Variables } from '../../src/config/settings.ts'

const machine = { hostName: 'box', processId: 42 }
const key = Buffer.alloc(32, 7).toString('base64')
const otherKey = Buffer.alloc(32, 8).toString('base64')
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

type Case = { good: string; reads: (settings: Settings) => unknown; as: unknown; bad: string[] }

const numbers = ['-1', '1e3', 'ten', '99999999999']
const cases: Record<VariableName, Case> = {
  HOST: { good: '0.0.0.0', reads: s => s.listen.host, as: '0.0.0.0', bad: ['http://x', 'a b'] },
  PORT: { good: '0', reads: s => s.listen.port, as: 0, bad: ['-1', '65536', '80.5', 'http'] },
  INSTANCE_API_PORT: { good: '65535', reads: s => s.listen.instanceApiPort, as: 65_535, bad: ['65536', '0x50'] },
  OPS_HOST: { good: '::', reads: s => s.listen.opsHost, as: '::', bad: ['a/b'] },
  OPS_PORT: { good: '9000', reads: s => s.listen.opsPort, as: 9000, bad: ['99999'] },
  PUBLIC_URL: {
    good: 'https://Hooks.example.com/base/',
    reads: s => s.listen.publicUrl,
    as: 'https://hooks.example.com/base',
    bad: ['example.com', 'ftp://example.com', 'https://a:b@example.com', 'https://example.com?x=1']
  },
  DATA_DIR: {
    good: '/var/lib/l',
    reads: s => [s.storage.dataDir, s.storage.mediaDir],
    as: ['/var/lib/l', '/var/lib/l/media'],
    bad: ['a\0b']
  },
  EVENTSTORE_URL: {
    good: 'esdb+discover://u:p@a:2113,b:2113?tls=false',
    reads: s => [s.storage.eventStoreUrl, s.providers.sandbox],
    as: ['esdb+discover://u:p@a:2113,b:2113?tls=false', false],
    bad: ['http://a:2113', 'esdb://', 'esdb://u:p@', 'esdb://a b']
  },
  EVENTSTORE_STREAM_PREFIX: {
    good: 'prod.',
    reads: s => s.storage.eventStoreStreamPrefix,
    as: 'prod.',
    bad: ['$all', 'a b']
  },
  REDIS_URL: {
    good: 'rediss://r:6379/1',
    reads: s => s.storage.redisUrl,
    as: 'rediss://r:6379/1',
    bad: ['r:6379', 'redis://']
  },
  SINGLE_NODE: { good: 'true', reads: s => s.storage.singleNode, as: true, bad: ['yes', '1', 'TRUE'] },
  NODE_ID: { good: 'node-a', reads: s => s.nodeId, as: 'node-a', bad: ['node a', 'ä'] },
  NODE_ENV: {
    good: 'production',
    reads: s => [s.isProduction, s.providers.sandbox],
    as: [true, false],
    bad: ['my env']
  },
  ANCHOR_FILE: { good: '/mnt/anchors', reads: s => s.storage.anchorFile, as: '/mnt/anchors', bad: ['a\0b'] },
  MASTER_KEY: {
    good: key,
    reads: s => s.keys.masterKey?.toString('base64'),
    as: key,
    bad: ['short', key.slice(0, -1), `${key}A`, 'a'.repeat(64)]
  },
  MASTER_KEY_PREVIOUS: {
    good: otherKey,
    reads: s => s.keys.masterKeyPrevious?.toString('base64'),
    as: otherKey,
    bad: ['x']
  },
  MASTER_API_KEY: { good: 'master', reads: s => s.keys.masterApiKey, as: 'master', bad: ['two words', 'é'] },
  SANDBOX: { good: 'false', reads: s => s.providers.sandbox, as: false, bad: ['off'] },
  OFFICIAL_API_BASE_URL: {
    good: 'http://127.0.0.1:9/v1',
    reads: s => [s.providers.official.apiBaseUrl, s.providers.sandbox],
    as: ['http://127.0.0.1:9/v1', false],
    bad: ['graph', 'https://h/v1#x']
  },
  OFFICIAL_APP_ID: { good: '123', reads: s => s.providers.official.appId, as: '123', bad: ['1 2'] },
  OFFICIAL_APP_SECRET: { good: 'abc', reads: s => s.providers.official.appSecret, as: 'abc', bad: ['a b'] },
  OFFICIAL_VERIFY_TOKEN: { good: 'tok', reads: s => s.providers.official.verifyToken, as: 'tok', bad: ['a b'] },
  OFFICIAL_SIGNUP_CONFIG_ID: { good: 'cfg', reads: s => s.providers.official.signupConfigId, as: 'cfg', bad: ['a b'] },
  UNOFFICIAL_INSTANCES: {
    good: JSON.stringify(pool),
    reads: s => [s.providers.unofficial.instances, s.providers.sandbox],
    as: [[{ baseUrl: 'https://one.test', apiKey: 'k1', engine: 'webjs', capacity: 50 }], false],
    bad: [
      'x',
      '{}',
      '["a"]',
      JSON.stringify([{ ...pool[0], baseUrl: 'ftp://one.test' }]),
      JSON.stringify([{ ...pool[0], engine: 'other' }]),
      JSON.stringify([{ ...pool[0], capacity: 0 }]),
      JSON.stringify([{ ...pool[0], capacity: 1.5 }]),
      JSON.stringify([{ ...pool[0], extra: 1 }]),
      JSON.stringify([...pool, { ...pool[0], baseUrl: 'https://ONE.test' }])
    ]
  },
  UNOFFICIAL_WEBHOOK_SECRET: {
    good: 'root',
    reads: s => s.providers.unofficial.webhookSecret,
    as: 'root',
    bad: ['a b']
  },
  PROVIDER_ALLOWED_BASE_URLS: {
    good: 'http://10.0.0.5:3000/, https://b.test',
    reads: s => s.providers.allowedBaseUrls,
    as: ['http://10.0.0.5:3000', 'https://b.test'],
    bad: ['b.test', 'https://a.test,b.test']
  },
  PROVIDER_TIMEOUT_SECONDS: { good: '0.5', reads: s => s.providers.timeoutMs, as: 500, bad: ['0', ...numbers] },
  WEBHOOK_SOURCE_ADDRESS: {
    good: '192.0.2.7',
    reads: s => s.webhooks.sourceAddress,
    as: '192.0.2.7',
    bad: ['eth0', '192.0.2']
  },
  OUTBOUND_ALLOWED_CIDRS: {
    good: '10.0.0.0/8, fd00::/8,127.0.0.1',
    reads: s => s.webhooks.allowedCidrs,
    as: ['10.0.0.0/8', 'fd00::/8', '127.0.0.1'],
    bad: ['10/8', '10.0.0.0/33', 'fd00::/129', 'localhost', '10.0.0.0/8;fd00::/8']
  },
  WEBHOOK_RETRY_SECONDS: {
    good: '0.05, 1',
    reads: s => s.webhooks.retryMs,
    as: [50, 1000],
    bad: ['5;30', '5,,30', '-5', '5,']
  },
  WEBHOOK_TIMEOUT_SECONDS: { good: '3', reads: s => s.webhooks.timeoutMs, as: 3000, bad: ['0', ...numbers] },
  CONNECTION_ATTEMPT_TTL_MINUTES: {
    good: '0.05',
    reads: s => s.messaging.attemptTtlMs,
    as: 3000,
    bad: ['0', ...numbers]
  },
  QUARANTINE_HOURS: { good: '0.5', reads: s => s.messaging.quarantineMs, as: 1_800_000, bad: numbers },
  RATE_LIMIT_PER_MINUTE: { good: '0', reads: s => s.messaging.rateLimitPerMinute, as: 0, bad: ['1.5', ...numbers] },
  DISPATCH_CONCURRENCY_OFFICIAL: {
    good: '1',
    reads: s => s.messaging.concurrencyOfficial,
    as: 1,
    bad: ['0', ...numbers]
  },
  DISPATCH_CONCURRENCY_UNOFFICIAL: {
    good: '9',
    reads: s => s.messaging.concurrencyUnofficial,
    as: 9,
    bad: ['0', ...numbers]
  },
  DISPATCH_MAX_ATTEMPTS: { good: '2', reads: s => s.messaging.maxAttempts, as: 2, bad: ['0', '101', ...numbers] },
  DISPATCH_BACKOFF_SECONDS: { good: '0.1', reads: s => s.messaging.backoffMs, as: [100], bad: ['a', '1,b', '90000'] },
  INDETERMINATE_TIMEOUT_SECONDS: {
    good: '1.5',
    reads: s => s.messaging.indeterminateTimeoutMs,
    as: 1500,
    bad: ['0', ...numbers]
  },
  BREAKER_FAILURES: { good: '3', reads: s => s.messaging.breakerFailures, as: 3, bad: ['0', ...numbers] },
  BREAKER_WINDOW_SECONDS: { good: '60', reads: s => s.messaging.breakerWindowMs, as: 60_000, bad: ['0', ...numbers] },
  ENFORCE_24H_WINDOW: { good: 'true', reads: s => s.messaging.enforce24hWindow, as: true, bad: ['on'] },
  SESSION_POLL_SECONDS: {
    good: '0.2',
    reads: s => s.providers.unofficial.sessionPollMs,
    as: 200,
    bad: ['0', ...numbers]
  },
  SESSION_DOWN_GRACE_SECONDS: { good: '0', reads: s => s.providers.unofficial.sessionDownGraceMs, as: 0, bad: numbers },
  MEDIA_DIR: { good: '/mnt/media', reads: s => s.storage.mediaDir, as: '/mnt/media', bad: ['a\0b'] },
  MEDIA_RETENTION_HOURS: { good: '0.5', reads: s => s.storage.mediaRetentionMs, as: 1_800_000, bad: ['0', ...numbers] },
  RETENTION_DAYS: { good: '90', reads: s => s.storage.messageRetentionMs, as: 7_776_000_000, bad: numbers },
  DELIVERY_LOG_DAYS: { good: '1', reads: s => s.storage.deliveryLogMs, as: 86_400_000, bad: numbers },
  LEASE_SECONDS: { good: '1', reads: s => s.cluster.leaseMs, as: 1000, bad: ['0', ...numbers] },
  SHUTDOWN_SECONDS: { good: '0', reads: s => s.cluster.shutdownMs, as: 0, bad: numbers },
  REQUEST_LIMIT_PER_MINUTE: { good: '0', reads: s => s.requestLimitPerMinute, as: 0, bad: ['0.5', ...numbers] },
  OPT_OUT_KEYWORDS: {
    good: 'STOP, Parar ,',
    reads: s => s.messaging.optOutKeywords,
    as: ['stop', 'parar'],
    bad: ['a,'.repeat(101)]
  },
  OPT_IN_KEYWORDS: { good: 'BACK', reads: s => s.messaging.optInKeywords, as: ['back'], bad: ['a,'.repeat(101)] },
  LOG_LEVEL: { good: 'debug', reads: s => s.logLevel, as: 'debug', bad: ['verbose', 'INFO'] }
}

const companions: Partial<Record<VariableName, Variables>> = {
  EVENTSTORE_URL: { REDIS_URL: 'redis://r', MASTER_KEY: key }
}

for (const name of Object.keys(environment.shape) as VariableName[]) {
  t.test(`${name}: what it takes, what it refuses, and an empty one is unset`, async t => {
    const { good, reads, as, bad } = cases[name]
    const rest = companions[name] ?? {}
    t.same(reads(load({ ...rest, [name]: ` ${good} ` })), as)
    t.same(load({ [name]: '' }), load({}), 'empty')
    for (const text of bad) {
      t.same(
        problemsOf({ ...rest, [name]: text }).map(problem => problem.variable),
        [name],
        JSON.stringify(text)
      )
    }
  })
}

t.test('all problems are reported at once, a line each', async t => {
  const bad = Object.fromEntries(Object.entries(cases).map(([name, { bad }]) => [name, bad[0]]))
  const problems = problemsOf({ ...bad, UNKNOWN_VARIABLE: 'x' })
  t.same(
    problems.map(problem => problem.variable),
    Object.keys(environment.shape)
  )
  const lines = formatProblems(problems).split('\n')
  t.equal(lines.length, problems.length)
  t.equal(lines[1], 'PORT holds -1; allowed: a whole number from 0 to 65535 (0: any free port)')
  t.match(formatProblems(problemsOf({ LOG_LEVEL: 'a\nb' })), /^LOG_LEVEL holds a\\nb; allowed: one of fatal,.*$/)
})
