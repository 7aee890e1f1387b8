/** Start and stop of a node, in order: storage, service, listeners, workers; and back. */
import { systemClock } from '../actors/clock.ts'
import { type Logger, newId } from '../actors/core.ts'
import { type Settings, urlOfListener } from '../config/settings.ts'
import { createApp } from '../http/app.ts'
import { type BatchHost, startBatchThread } from './batch-host.ts'
import { openControlSocket } from './control-socket.ts'
import { openCoordination } from './coordination.ts'
import { type Demo, prepareDemo } from './demo.ts'
import { createLogger } from './logger.ts'
import type { Platforms } from './platforms.ts'
import { type Sandbox, startSandbox } from './sandbox.ts'
import { createService } from './service.ts'
import { openStorage, StartRefused, type Storage } from './storage.ts'
import { version } from './version.ts'

export type Running = {
  readonly url: string
  readonly sandbox: Sandbox | null
  readonly demo: Demo | null
  readonly anchorKey: string
  /** Stops accepting, finishes what is in flight, closes the log. */
  stop(): Promise<void>
}

export async function serve(settings: Settings): Promise<Running> {
  const logger = createLogger(settings)
  const storage = await openStorage(settings, { logger, onAnchor: line => process.stdout.write(`${line}\n`) })
  const batches = await openBatches(storage, logger)
  const sandbox = settings.providers.sandbox ? await startSandbox(storage.master.derive('sandbox')) : null
  let url = ''
  const publicUrl = (): string => settings.listen.publicUrl ?? url
  const coordination = openCoordination(settings, storage, logger)
  const service = createService(
    settings,
    storage,
    batches,
    coordination,
    platformsOf(settings, sandbox, publicUrl),
    logger
  )
  const app = createApp({
    doors: service.doors,
    logger,
    now: Date.now,
    newTraceId: () => newId('tr', { clock: systemClock }),
    publicUrl: settings.listen.publicUrl ?? urlOfListener(settings.listen.host, settings.listen.port),
    version,
    requestLimitPerMinute: settings.requestLimitPerMinute,
    countRequest: coordination.hit
  })
  const { host, port } = settings.listen
  try {
    await app.listen({ host, port })
  } catch (error) {
    await sandbox?.close()
    await service.stop()
    throw new StartRefused(`cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : error}`)
  }
  const address = app.server.address()
  url = urlOfListener(host, typeof address === 'object' && address !== null ? address.port : port)
  await service.start()
  const control = await openControlSocket(settings.storage.dataDir, service.keys, logger)
  let demo: Demo | null = null
  if (sandbox) {
    await sandbox.callBack(url)
    demo = await prepareDemo(service)
  }
  return {
    url,
    sandbox,
    demo,
    anchorKey: storage.anchors.publicKey,
    async stop() {
      control.close()
      await app.close()
      await service.stop()
      await sandbox?.close()
    }
  }
}

async function openBatches(storage: Storage, logger: Logger): Promise<BatchHost> {
  const batches = startBatchThread(storage.batchThread, logger)
  // From the first moment on: a page that it misses would be missing until the next one.
  storage.views.onPage(batches.pageDone)
  try {
    await batches.ready
    return batches
  } catch (error) {
    await storage.close()
    throw error
  }
}

const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '::1'])

function platformsOf(settings: Settings, sandbox: Sandbox | null, publicUrl: () => string): Platforms {
  // A sandbox that others can reach over the network must not open its own loopback to them.
  const reachableCidrs = LOOPBACK_HOSTS.has(settings.listen.host) ? (sandbox?.platforms.reachableCidrs ?? []) : []
  if (sandbox) return { ...sandbox.platforms, reachableCidrs, publicUrl }
  const { official, unofficial } = settings.providers
  return {
    officialBaseUrl: official.apiBaseUrl ?? '',
    appSecret: official.appSecret,
    verifyToken: official.verifyToken,
    reachableCidrs: [],
    pool: unofficial.instances.map(({ baseUrl, apiKey, engine, capacity }) => ({
      baseUrl,
      apiKey: apiKey ?? null,
      engine,
      capacity
    })),
    publicUrl
  }
}
