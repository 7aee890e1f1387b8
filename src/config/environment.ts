import { z } from 'zod'
import {
  baseUrl,
  baseUrls,
  duration,
  flag,
  integer,
  ipAddress,
  masterKey,
  matching,
  oneOf,
  path,
  ranges,
  urlOfScheme,
  visibleText,
  waits,
  words
} from './fields.ts'
import { poolInstances } from './instances.ts'
import { optional, withDefault } from './variable.ts'

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const listenName = () => matching(/^[A-Za-z0-9._:-]{1,253}$/)
const port = (preset: string, meaning: string) =>
  withDefault(preset, integer(0, 65_535), { allowed: 'a whole number from 0 to 65535 (0: any free port)', meaning })
const seconds = (preset: string, min: number, meaning: string) =>
  withDefault(preset, duration(secondMs, min, 86_400), { allowed: `seconds, ${min} to 86400`, meaning })
const count = (preset: string, min: number, max: number, meaning: string) =>
  withDefault(preset, integer(min, max), { allowed: `a whole number from ${min} to ${max}`, meaning })
const secret = (meaning: string, preset?: string) =>
  optional(visibleText(512), {
    allowed: 'up to 512 visible ASCII characters, no spaces',
    meaning,
    display: 'secret',
    ...(preset === undefined ? {} : { preset })
  })
const key = (preset: string, meaning: string) =>
  optional(masterKey(), { allowed: '32 bytes in base64 (44 characters)', meaning, preset, display: 'secret' })

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** All settings as the environment holds them (decisions §1), in the order in which the documentation lists them. */
export const environment = z.object({
  HOST: withDefault('127.0.0.1', listenName(), {
    allowed: 'a host name or an IP address',
    meaning: 'Address that the channel service and the instance API listen on.'
  }),
  PORT: port('3000', 'Port of the channel service, the provider callbacks, the documentation and the console.'),
  INSTANCE_API_PORT: port('3001', 'Port of the instance API.'),
  OPS_HOST: withDefault('127.0.0.1', listenName(), {
    allowed: 'a host name or an IP address',
    meaning: 'Address that the metrics listen on.'
  }),
  OPS_PORT: port('9464', 'Port of the metrics.'),
  PUBLIC_URL: optional(baseUrl(), {
    allowed: 'an http or https URL without user-info, query or fragment',
    meaning: 'Address under which the providers reach this service with their callbacks.',
    preset: '`http://HOST:PORT`',
    display: 'url'
  }),
  DATA_DIR: withDefault('./data', path(), {
    allowed: 'a folder path',
    meaning: 'Folder of the embedded event log, the views, generated keys and received media.'
  }),
  EVENTSTORE_URL: optional(urlOfScheme(['esdb', 'esdb+discover']), {
    allowed: 'an esdb:// or esdb+discover:// connection string',
    meaning: 'EventStoreDB that keeps the event log. Unset: the embedded log under `DATA_DIR`.',
    display: 'url'
  }),
  EVENTSTORE_STREAM_PREFIX: withDefault('', matching(/^[A-Za-z0-9._:-]{0,64}$/), {
    allowed: 'up to 64 letters, digits or . _ : -',
    meaning: 'Begins the name of every stream, so that several installations can share one EventStoreDB.',
    preset: 'empty'
  }),
  REDIS_URL: optional(urlOfScheme(['redis', 'rediss']), {
    allowed: 'a redis:// or rediss:// URL; required with EVENTSTORE_URL unless SINGLE_NODE=true',
    meaning: 'Where nodes share leases, token buckets, request limits and attempt data. Unset: kept in the process.',
    display: 'url'
  }),
  SINGLE_NODE: withDefault('false', flag(), {
    allowed: 'true or false',
    meaning: 'Declares that only one node works on the EventStoreDB, which then needs no Redis.'
  }),
  NODE_ID: optional(visibleText(128), {
    allowed: 'up to 128 visible ASCII characters, no spaces',
    meaning: 'Name of this node in leases and log lines.',
    preset: 'host name and process id'
  }),
  NODE_ENV: optional(visibleText(64), {
    allowed: 'up to 64 visible ASCII characters, no spaces',
    meaning: '`production` keeps the sandbox from starting by default.'
  }),
  ANCHOR_FILE: optional(path(), {
    allowed: 'a file path',
    meaning: 'File that signed anchors of the log are appended to, best on another machine.'
  }),
  MASTER_KEY: key(
    'generated into `DATA_DIR/master.key` on the embedded log; required with EventStoreDB',
    'Wraps the keys of every tenant. Whoever loses it loses all personal data in the log.'
  ),
  MASTER_KEY_PREVIOUS: key('empty', 'The key before, while `ledgerline keys rewrap` moves tenants to the new one.'),
  MASTER_API_KEY: secret('Key of the account routes of the instance API.', 'empty: those routes answer 401'),
  SANDBOX: optional(flag(), {
    allowed: 'true or false',
    meaning: 'Starts a simulator of both kinds of provider and points the connectors at them.',
    preset:
      '`true` on the embedded log without `OFFICIAL_API_BASE_URL` and `UNOFFICIAL_INSTANCES`, ' +
      'unless `NODE_ENV` is `production`; else `false`'
  }),
  OFFICIAL_API_BASE_URL: optional(baseUrl(), {
    allowed: 'an http or https URL without user-info, query or fragment',
    meaning: 'Address of the official platform, its version included.',
    preset: '`https://graph.facebook.com/v23.0` without the sandbox',
    display: 'url'
  }),
  OFFICIAL_APP_ID: optional(visibleText(128), {
    allowed: 'up to 128 visible ASCII characters, no spaces',
    meaning: 'App of this service on the official platform, for embedded signup.'
  }),
  OFFICIAL_APP_SECRET: secret('Verifies the callbacks of that app.'),
  OFFICIAL_VERIFY_TOKEN: secret('Token of the official platform’s webhook handshake.'),
  OFFICIAL_SIGNUP_CONFIG_ID: optional(visibleText(128), {
    allowed: 'up to 128 visible ASCII characters, no spaces',
    meaning: 'Configuration of the official platform’s embedded signup.'
  }),
  UNOFFICIAL_INSTANCES: withDefault('[]', poolInstances(), {
    allowed:
      'a JSON array of {"baseUrl","apiKey","engine","capacity"}: http or https URL (each once), text or absent, ' +
      'webjs, noweb or gows, whole number from 1',
    meaning: 'Pool of instances that unofficial numbers are paired on; `capacity` is the sessions that one holds.',
    display: 'instances'
  }),
  UNOFFICIAL_WEBHOOK_SECRET: secret(
    'Root of the keys that sessions sign their callbacks with.',
    'derived from `MASTER_KEY`'
  ),
  PROVIDER_ALLOWED_BASE_URLS: withDefault('', baseUrls(), {
    allowed: 'a comma list of http or https URLs without user-info, query or fragment',
    meaning: 'Instances that tenants may bring themselves; those listed may have private addresses.',
    preset: 'empty',
    display: 'url'
  }),
  PROVIDER_TIMEOUT_SECONDS: seconds(
    '30',
    0.01,
    'Longest call to a provider; a send that takes longer is indeterminate.'
  ),
  WEBHOOK_SOURCE_ADDRESS: optional(ipAddress(), {
    allowed: 'an IP address of this machine',
    meaning: 'Local address that webhook deliveries leave from.'
  }),
  OUTBOUND_ALLOWED_CIDRS: withDefault('', ranges(), {
    allowed: 'a comma list of address ranges such as 10.0.0.0/8 or fd00::/8',
    meaning: 'Private ranges that deliveries may go to all the same.',
    preset: 'empty'
  }),
  WEBHOOK_RETRY_SECONDS: withDefault('5,30,120,600,3600,14400,43200', waits(50, 604_800), {
    allowed: 'a comma list of up to 50 waits in seconds, 0 to 604800 each',
    meaning: 'Waits between the attempts of a webhook delivery, each with 10% jitter; the first attempt is at once.'
  }),
  WEBHOOK_TIMEOUT_SECONDS: seconds(
    '10',
    0.01,
    'Longest delivery attempt, from connect to the end of the response headers.'
  ),
  CONNECTION_ATTEMPT_TTL_MINUTES: withDefault('10', duration(minuteMs, 0.001, 1440), {
    allowed: 'minutes, 0.001 to 1440',
    meaning: 'Life of an attempt to pair an unofficial number.'
  }),
  QUARANTINE_HOURS: withDefault('0', duration(hourMs, 0, 8760), {
    allowed: 'hours, 0 to 8760 (0: off)',
    meaning: 'Time after its first connection in which a new number may not send.'
  }),
  RATE_LIMIT_PER_MINUTE: count(
    '60',
    0,
    1_000_000,
    'Sends of one number in a minute; the burst is a tenth. 0: no limit.'
  ),
  DISPATCH_CONCURRENCY_OFFICIAL: count('32', 1, 1000, 'Sends under way at once on one official channel.'),
  DISPATCH_CONCURRENCY_UNOFFICIAL: count('4', 1, 1000, 'Sends under way at once on one unofficial channel.'),
  DISPATCH_MAX_ATTEMPTS: count('5', 1, 100, 'Attempts to send a message whose provider fails for the moment.'),
  DISPATCH_BACKOFF_SECONDS: withDefault('2,10,60,300', waits(50, 86_400), {
    allowed: 'a comma list of up to 50 waits in seconds, 0 to 86400 each',
    meaning: 'Waits between those attempts; the last one holds for all that follow.'
  }),
  INDETERMINATE_TIMEOUT_SECONDS: seconds('600', 0.01, 'Time for a report to settle a send whose outcome is unknown.'),
  BREAKER_FAILURES: count('10', 1, 1_000_000, 'Failures by the provider within the window that stop a channel.'),
  BREAKER_WINDOW_SECONDS: seconds('300', 0.01, 'Window in which those failures are counted.'),
  ENFORCE_24H_WINDOW: withDefault('false', flag(), {
    allowed: 'true or false',
    meaning: 'Refuses free-form messages to contacts of official numbers who have not written for 24 hours.'
  }),
  SESSION_POLL_SECONDS: seconds('30', 0.01, 'Interval in which unofficial sessions are looked after.'),
  SESSION_DOWN_GRACE_SECONDS: seconds('15', 0, 'Time that a live session may fail before its channel is down.'),
  MEDIA_DIR: optional(path(), {
    allowed: 'a folder path',
    meaning: 'Folder of received media, encrypted; shared between nodes where there are several.',
    preset: '`DATA_DIR/media`'
  }),
  MEDIA_RETENTION_HOURS: withDefault('24', duration(hourMs, 0.001, 87_600), {
    allowed: 'hours, 0.001 to 87600',
    meaning: 'Time that received media is kept.'
  }),
  RETENTION_DAYS: withDefault('0', duration(dayMs, 0, 36_500), {
    allowed: 'days, 0 to 36500 (0: for ever)',
    meaning: 'Time that the streams of messages are kept.'
  }),
  DELIVERY_LOG_DAYS: withDefault('30', duration(dayMs, 0, 36_500), {
    allowed: 'days, 0 to 36500 (0: for ever)',
    meaning: 'Time that settled webhook deliveries stay in the views.'
  }),
  LEASE_SECONDS: seconds('10', 0.1, 'Time after which other nodes take over the work of a dead one.'),
  SHUTDOWN_SECONDS: seconds('20', 0, 'Time that an orderly stop may take.'),
  REQUEST_LIMIT_PER_MINUTE: count('6000', 0, 100_000_000, 'Requests of one API key in a minute. 0: no limit.'),
  OPT_OUT_KEYWORDS: withDefault('', words(100), {
    allowed: 'a comma list of up to 100 words',
    meaning: 'Incoming texts that opt a contact out of a tenant’s messages; case does not matter.',
    preset: 'empty'
  }),
  OPT_IN_KEYWORDS: withDefault('START', words(100), {
    allowed: 'a comma list of up to 100 words',
    meaning: 'Incoming texts that undo it.'
  }),
  LOG_LEVEL: withDefault('info', oneOf(logLevels), {
    allowed: `one of ${logLevels.join(', ')}`,
    meaning: 'Least severity of the lines that are logged.'
  })
})

export type Environment = z.infer<typeof environment>
export type VariableName = keyof Environment
