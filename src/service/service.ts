/** The service, wired: storage below, actors and reactors on it, the doors that HTTP and the command line use. */
import { randomBytes } from 'node:crypto'
import { createAggregates, streamOf } from '../actors/aggregates.ts'
import { createAttemptStart } from '../actors/attempt-start.ts'
import { startBreaker } from '../actors/breaker.ts'
import { systemClock } from '../actors/clock.ts'
import { type Core, type Logger, newId } from '../actors/core.ts'
import { createDeliverer } from '../actors/deliverer.ts'
import { createDestinations } from '../actors/destinations.ts'
import { createDispatchGate } from '../actors/dispatch-gate.ts'
import { createDispatcher } from '../actors/dispatcher.ts'
import { createErasure } from '../actors/erasure.ts'
import { createHeldReports } from '../actors/held-reports.ts'
import { createHiddenIds } from '../actors/hidden-ids.ts'
import { createIdentities } from '../actors/identities.ts'
import { createInstancePool } from '../actors/instance-pool.ts'
import { callbackKey, createIntake } from '../actors/intake.ts'
import { createKeys } from '../actors/keys.ts'
import { createLines } from '../actors/lines.ts'
import { nactMailboxes } from '../actors/mailbox.ts'
import { createMedia } from '../actors/media-service.ts'
import { createNumbers } from '../actors/numbers.ts'
import { createOptOuts } from '../actors/opt-outs.ts'
import { createOwnWrites } from '../actors/own-writes.ts'
import { createPairing } from '../actors/pairing.ts'
import { createReactor } from '../actors/reactor.ts'
import { createRedelivery } from '../actors/redelivery.ts'
import { createReports } from '../actors/reports.ts'
import { createRisks } from '../actors/risks.ts'
import { createSupervisor, type Supervisor } from '../actors/sessions.ts'
import { createShardWork } from '../actors/shard-work.ts'
import { createTemplates } from '../actors/templates.ts'
import type { Settings } from '../config/settings.ts'
import { parseOfficialCallback } from '../connectors/official/callbacks.ts'
import { verifyHubSignature } from '../connectors/official/signature.ts'
import { parseUnofficialCallback } from '../connectors/unofficial/callbacks.ts'
import { verifyUnofficialSignature } from '../connectors/unofficial/signature.ts'
import { signatureHeader } from '../connectors/webhook/signature.ts'
import type { Coordination } from '../coordination/port.ts'
import type { ServiceDoors } from '../http/ports.ts'
import { anchorWork } from './anchor-work.ts'
import type { BatchHost } from './batch-host.ts'
import { createConnectors, DELIVERIES_AT_ONCE } from './connectors.ts'
import { messageDoors } from './message-doors.ts'
import type { Platforms } from './platforms.ts'
import type { Storage } from './storage.ts'

export type Service = {
  readonly doors: ServiceDoors
  readonly keys: ReturnType<typeof createKeys>
  readonly numbers: ReturnType<typeof createNumbers>
  /** A channel stands, or stood, for this number of the official platform. */
  hasNumber(phoneNumberId: string): boolean
  newTrace(): string
  /** Waits for the views, settles what an earlier process left, then starts the workers. */
  start(): Promise<void>
  /** Workers first: what is in flight is recorded before the log closes. */
  stop(): Promise<void>
}

/** The views may have a long history to catch up with at the first start of a new version. */
const CATCH_UP_STEP_MS = 1_000

export function createService(
  settings: Settings,
  storage: Storage,
  batches: BatchHost,
  coordination: Coordination & { readonly isShared: boolean },
  platforms: Platforms,
  logger: Logger
): Service {
  const { log, keyring, views } = storage
  const clock = systemClock
  const own = createOwnWrites(views)
  const mailboxes = nactMailboxes(error => logger.error({ err: error }, 'an actor crashed'))
  const aggregates = createAggregates({
    log,
    keyring,
    clock,
    mailboxes,
    shared: coordination.isShared,
    onAppended: own.wrote,
    onCrash: (error, stream) =>
      logger.error({ err: error, stream }, 'a command crashed; the actor starts again from its stream')
  })
  const processId = `${settings.nodeId}.${process.pid}.${randomBytes(6).toString('hex')}`
  const shards = createShardWork(coordination.leases, { log, views, clock, logger })
  const core: Core = {
    log,
    keyring,
    views,
    aggregates,
    own,
    clock,
    logger,
    works: shards.works,
    workedShards: shards.shards,
    processId
  }

  views.onPage(({ touched }) => {
    for (const contactId of touched.contact ?? []) keyring.forgetContact(contactId)
    for (const contactId of touched.relinked ?? []) keyring.reread(contactId)
    for (const channelId of touched.channel ?? []) aggregates.channels.refresh(streamOf.channel(channelId))
  })

  const { messaging, providers, webhooks } = settings
  const connectors = createConnectors(settings, platforms)
  const { official, unofficial, downloads, guard, poster } = connectors
  const pool = createInstancePool({
    instances: platforms.pool,
    views,
    unofficial,
    allowedBaseUrls: providers.allowedBaseUrls
  })
  const lines = createLines(core, pool.apiKey)
  const heldReports = createHeldReports(core)
  const optOuts = createOptOuts(core, { out: messaging.optOutKeywords, in: messaging.optInKeywords })
  const identities = createIdentities(core, optOuts)
  const callbackRoot = providers.unofficial.webhookSecret
    ? Buffer.from(providers.unofficial.webhookSecret)
    : storage.master.derive('unofficial callbacks')

  const numbers = createNumbers({
    core,
    official,
    view: { quarantineOn: messaging.quarantineMs > 0, rateLimitPerMinute: messaging.rateLimitPerMinute },
    quarantineMs: messaging.quarantineMs,
    endSession(row, how) {
      const ended = async (): Promise<void> => {
        const line = await lines.of(await aggregates.channels.read(streamOf.channel(row.id)))
        if (line?.kind === 'unofficial') await (how === 'stop' ? unofficial.stop(line) : unofficial.erase(line))
      }
      ended().catch(error => logger.warn({ err: error, channelId: row.id }, 'a session could not be ended'))
    }
  })
  const pairing = createPairing({
    core,
    unofficial,
    numbers,
    pool,
    start: createAttemptStart({ core, pool, ttlMs: messaging.attemptTtlMs }),
    ephemeral: coordination.ephemeral,
    callback: reference => ({
      url: `${platforms.publicUrl()}/webhooks/unofficial/${reference}`,
      key: callbackKey(callbackRoot, reference)
    })
  })
  const supervisor: Supervisor = createSupervisor({
    core,
    lines,
    unofficial,
    pairing,
    pollMs: providers.unofficial.sessionPollMs,
    graceMs: providers.unofficial.sessionDownGraceMs
  })
  const templates = createTemplates({ core, lines, official })
  const media = createMedia({
    core,
    lines,
    downloads,
    directory: settings.storage.mediaDir,
    retentionMs: settings.storage.mediaRetentionMs
  })
  const intake = createIntake({
    core,
    officialCallbacks: { verify: verifyHubSignature, parse: parseOfficialCallback },
    unofficialCallbacks: { verify: verifyUnofficialSignature, parse: parseUnofficialCallback },
    lines,
    identities,
    hiddenIds: createHiddenIds(core, lines, unofficial),
    reports: createReports(core, identities),
    sessions: supervisor,
    optOuts,
    templates,
    media,
    appSecret: platforms.appSecret,
    verifyToken: platforms.verifyToken,
    callbackRoot
  })
  const dispatcher = createDispatcher({
    core,
    lines,
    identities,
    gate: createDispatchGate(core, optOuts, messaging.enforce24hWindow),
    official,
    unofficial,
    policy: {
      maxAttempts: messaging.maxAttempts,
      backoffMs: messaging.backoffMs,
      indeterminateTimeoutMs: messaging.indeterminateTimeoutMs
    },
    concurrency: { official: messaging.concurrencyOfficial, unofficial: messaging.concurrencyUnofficial },
    bucket: channelId => coordination.bucket(channelId, messaging.rateLimitPerMinute),
    providerTimeoutMs: providers.timeoutMs,
    random: Math.random
  })
  const deliverer = createDeliverer({
    core,
    poster,
    sign: signatureHeader,
    retryMs: webhooks.retryMs,
    concurrency: DELIVERIES_AT_ONCE,
    nodeId: settings.nodeId,
    random: Math.random
  })
  const stopBreaker = startBreaker({ core, failures: messaging.breakerFailures, windowMs: messaging.breakerWindowMs })
  const destinations = createDestinations(core, guard)
  const erasure = createErasure({
    core,
    optOuts,
    cancelDeliveries: deliverer.cancelFor,
    letGo: batches.letGo,
    removeMedia: media.remove
  })
  const reactor = createReactor({ core, numbers, pairing, destinations, erasure })
  const keys = createKeys(core)
  let ready = false

  const doors: ServiceDoors = {
    messages: messageDoors(core, batches),
    channels: numbers,
    attempts: pairing,
    media: media.door,
    webhooks: { ...destinations, ...createRedelivery(core) },
    templates,
    erasure,
    risks: createRisks(core),
    keys,
    callbacks: intake,
    health: {
      // A node that cannot append takes no requests: another one may be able to.
      notReady: () =>
        storage.trouble() ??
        batches.trouble() ??
        storage.outage() ??
        (ready ? null : 'views are catching up with the log'),
      facts: () => ({
        sandbox: providers.sandbox,
        position: views.position(),
        nodeId: settings.nodeId,
        coordination: coordination.health().reason ?? 'ok'
      })
    }
  }

  return {
    doors,
    keys,
    numbers,
    hasNumber: phoneNumberId => views.channelsByPhoneNumberId(phoneNumberId).length > 0,
    newTrace: () => newId('tr', core),
    async start() {
      const head = await log.head()
      while (!(await views.caughtUp(head, CATCH_UP_STEP_MS))) {
        const trouble = storage.trouble()
        if (trouble) throw new Error(trouble)
      }
      erasure.recall()
      for (const worker of [dispatcher, deliverer, reactor, heldReports]) shards.join(worker)
      if (storage.anchorDuty) shards.join(anchorWork(storage.anchorDuty, core))
      await shards.start()
      supervisor.start()
      templates.start()
      media.start()
      ready = true
    },
    async stop() {
      ready = false
      templates.stop()
      stopBreaker()
      await shards.leave()
      await Promise.all([
        supervisor.stop(),
        reactor.stop(),
        heldReports.stop(),
        dispatcher.stop(),
        deliverer.stop(),
        media.stop()
      ])
      await aggregates.stop()
      mailboxes.stop()
      await connectors.close()
      await coordination.close()
      await batches.stop()
      await storage.close()
    }
  }
}
