import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Environment } from './environment.ts'
import { environment, type VariableName } from './environment.ts'
import type { Problem } from './problems.ts'
import { problemOf } from './problems.ts'
import { about } from './variable.ts'

/** Address of the official platform while neither the sandbox nor a setting names another one. */
const OFFICIAL_PLATFORM_URL = 'https://graph.facebook.com/v23.0'

/** The variables of the process, or of a file: an empty text counts as unset. */
export type Variables = Readonly<Record<string, string | undefined>>

export type Settings = ReturnType<typeof grouped>
export type LoadedSettings =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Who only reads a log needs neither its keys nor the company of other nodes. */
export type Purpose = 'serve' | 'read'

/** What the default of `NODE_ID` is made of. */
export type Machine = { readonly hostName: string; readonly processId: number }

const names = Object.keys(environment.shape) as VariableName[]

/** The variables of ours that are set, trimmed. */
const setVariables = (variables: Variables): Partial<Record<VariableName, string>> => {
  const held: Partial<Record<VariableName, string>> = {}
  for (const name of names) {
    const text = variables[name]?.trim()
    if (text) held[name] = text
  }
  return held
}

/** Base URL of a listener; an IPv6 address gets its brackets. */
export const urlOfListener = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Rules that join variables. They look at what is set, so that they are reported beside malformed values. */
const brokenRules = (held: Partial<Record<VariableName, string>>): Problem[] => {
  if (held.EVENTSTORE_URL === undefined) return []
  const problems: Problem[] = []
  if (held.REDIS_URL === undefined && held.SINGLE_NODE !== 'true') problems.push(problemOf('REDIS_URL', undefined))
  if (held.MASTER_KEY === undefined) {
    problems.push({
      ...problemOf('MASTER_KEY', undefined),
      allowed: '32 bytes in base64; required with EVENTSTORE_URL'
    })
  }
  return problems
}

const usesSandbox = (env: Environment): boolean =>
  env.SANDBOX ??
  (env.EVENTSTORE_URL === null &&
    env.OFFICIAL_API_BASE_URL === null &&
    env.UNOFFICIAL_INSTANCES.length === 0 &&
    env.NODE_ENV !== 'production')

const listeners = (env: Environment) => ({
  host: env.HOST,
  port: env.PORT,
  instanceApiPort: env.INSTANCE_API_PORT,
  opsHost: env.OPS_HOST,
  opsPort: env.OPS_PORT,
  /** Null only while `PORT` is 0: then it is known once the service listens (`urlOfListener`). */
  publicUrl: env.PUBLIC_URL ?? (env.PORT === 0 ? null : urlOfListener(env.HOST, env.PORT))
})

const storage = (env: Environment) => ({
  dataDir: env.DATA_DIR,
  /** Null: the embedded log. */
  eventStoreUrl: env.EVENTSTORE_URL,
  eventStoreStreamPrefix: env.EVENTSTORE_STREAM_PREFIX,
  /** Null: in-process. */
  redisUrl: env.REDIS_URL,
  singleNode: env.SINGLE_NODE,
  anchorFile: env.ANCHOR_FILE,
  mediaDir: env.MEDIA_DIR ?? join(env.DATA_DIR, 'media'),
  mediaRetentionMs: env.MEDIA_RETENTION_HOURS,
  /** 0: for ever. */
  messageRetentionMs: env.RETENTION_DAYS,
  /** 0: for ever. */
  deliveryLogMs: env.DELIVERY_LOG_DAYS
})

const providers = (env: Environment) => ({
  sandbox: usesSandbox(env),
  timeoutMs: env.PROVIDER_TIMEOUT_SECONDS,
  allowedBaseUrls: env.PROVIDER_ALLOWED_BASE_URLS,
  official: {
    /** Null only in the sandbox, which brings its own. */
    apiBaseUrl: env.OFFICIAL_API_BASE_URL ?? (usesSandbox(env) ? null : OFFICIAL_PLATFORM_URL),
    appId: env.OFFICIAL_APP_ID,
    appSecret: env.OFFICIAL_APP_SECRET,
    verifyToken: env.OFFICIAL_VERIFY_TOKEN,
    signupConfigId: env.OFFICIAL_SIGNUP_CONFIG_ID
  },
  unofficial: {
    instances: env.UNOFFICIAL_INSTANCES,
    /** Null: derived from the master key. */
    webhookSecret: env.UNOFFICIAL_WEBHOOK_SECRET,
    sessionPollMs: env.SESSION_POLL_SECONDS,
    sessionDownGraceMs: env.SESSION_DOWN_GRACE_SECONDS
  }
})

const messaging = (env: Environment) => ({
  attemptTtlMs: env.CONNECTION_ATTEMPT_TTL_MINUTES,
  /** 0: the feature is off. */
  quarantineMs: env.QUARANTINE_HOURS,
  /** 0: no limit. */
  rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE,
  concurrencyOfficial: env.DISPATCH_CONCURRENCY_OFFICIAL,
  concurrencyUnofficial: env.DISPATCH_CONCURRENCY_UNOFFICIAL,
  maxAttempts: env.DISPATCH_MAX_ATTEMPTS,
  backoffMs: env.DISPATCH_BACKOFF_SECONDS,
  indeterminateTimeoutMs: env.INDETERMINATE_TIMEOUT_SECONDS,
  breakerFailures: env.BREAKER_FAILURES,
  breakerWindowMs: env.BREAKER_WINDOW_SECONDS,
  enforce24hWindow: env.ENFORCE_24H_WINDOW,
  /** Lower case. */
  optOutKeywords: env.OPT_OUT_KEYWORDS,
  /** Lower case. */
  optInKeywords: env.OPT_IN_KEYWORDS
})

const grouped = (env: Environment, machine: Machine) => ({
  nodeId: env.NODE_ID ?? `${machine.hostName}-${machine.processId}`,
  isProduction: env.NODE_ENV === 'production',
  logLevel: env.LOG_LEVEL,
  listen: listeners(env),
  storage: storage(env),
  keys: {
    /** 32 bytes. Null: the key file of the embedded log. */
    masterKey: env.MASTER_KEY,
    masterKeyPrevious: env.MASTER_KEY_PREVIOUS,
    masterApiKey: env.MASTER_API_KEY
  },
  providers: providers(env),
  webhooks: {
    sourceAddress: env.WEBHOOK_SOURCE_ADDRESS,
    allowedCidrs: env.OUTBOUND_ALLOWED_CIDRS,
    /** Waits between attempts, without jitter: one attempt more than there are waits. */
    retryMs: env.WEBHOOK_RETRY_SECONDS,
    timeoutMs: env.WEBHOOK_TIMEOUT_SECONDS
  },
  messaging: messaging(env),
  cluster: { leaseMs: env.LEASE_SECONDS, shutdownMs: env.SHUTDOWN_SECONDS },
  /** Per API key; 0: no limit. */
  requestLimitPerMinute: env.REQUEST_LIMIT_PER_MINUTE
})

/**
 * Reads all settings at once: a typed object, or every problem there is, malformed values and missing companions alike.
 * Unknown variables are ignored. Durations come in milliseconds.
 */
export const loadSettings = (
  variables: Variables,
  machine: Machine = { hostName: hostname(), processId: process.pid },
  purpose: Purpose = 'serve'
): LoadedSettings => {
  const held = setVariables(variables)
  const parsed = environment.safeParse(held)
  const wrong = new Set(parsed.success ? [] : parsed.error.issues.map(issue => issue.path[0]))
  const malformed = names.filter(name => wrong.has(name)).map(name => problemOf(name, held[name]))
  const problems = [...malformed, ...(purpose === 'serve' ? brokenRules(held) : [])]
  return parsed.success && problems.length === 0
    ? { ok: true, settings: grouped(parsed.data, machine) }
    : { ok: false, problems }
}

export type SettingDescription = {
  name: VariableName
  default: string
  allowed: string
  meaning: string
  isSecret: boolean
}

/** Every variable with its default, what it takes and what it means: the table of the documentation. */
export const describeSettings = (): SettingDescription[] =>
  names.flatMap(name => {
    const told = about.get(environment.shape[name])
    if (told === undefined) return []
    const { preset, allowed, meaning, display } = told
    return [{ name, default: preset, allowed, meaning, isSecret: display === 'secret' }]
  })
