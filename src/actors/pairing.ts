/**
 * Pairing an unofficial number: an attempt lives until it is scanned, fails, expires or is cancelled (decisions §4).
 * The attempt decides first (`AttemptPaired`), then the number is claimed, the channel made, the attempt completed.
 */
import type { Engine, UnofficialConnector, UnofficialLine } from '../connectors/port.ts'
import type { Ephemeral } from '../coordination/port.ts'
import {
  type Attempt,
  type AttemptCommand,
  type AttemptEvent,
  type AttemptSecrets,
  isPairing
} from '../domain/attempt.ts'
import { riskName } from '../domain/tenant.ts'
import { streamOf } from './aggregates.ts'
import type { AttemptStart } from './attempt-start.ts'
import {
  type Asker,
  askedBy,
  type Core,
  findEvent,
  newId,
  now,
  ok,
  ownCommand,
  type Result,
  refuse,
  unseal
} from './core.ts'
import type { InstancePool } from './instance-pool.ts'
import type { Numbers } from './numbers.ts'
import type { SessionUpdate } from './sessions.ts'

export const RISK_TRACK = 'unofficial'
export const RISK_TERMS = 'unofficial-v1'

export type AttemptInput = {
  readonly label?: string
  readonly declaredNumber?: string
  readonly credentials?: { readonly baseUrl: string; readonly apiKey?: string }
  readonly preferredEngine?: Engine
  readonly riskAcceptance?: { readonly termsVersion: string }
}
export type AttemptView =
  | { readonly attemptId: string; readonly state: 'connecting' }
  | { readonly attemptId: string; readonly state: 'scan_qr'; readonly qr: string }
  | { readonly state: 'connected'; readonly channelId: string; readonly number: string }
  | { readonly state: 'failed'; readonly lastError?: string }
  | { readonly state: 'expired' }

export type Pairing = {
  start(asker: Asker, input: AttemptInput): Promise<Result<{ attemptId: string; state: 'connecting'; qr: null }>>
  poll(asker: Asker, attemptId: string): Promise<Result<AttemptView>>
  cancel(asker: Asker, attemptId: string): Promise<Result<{ cancelled: true }>>
  heard(attemptId: string, update: SessionUpdate): Promise<void>
  /** Claims, makes the channel and completes the attempt; safe to repeat after a crash. */
  finish(attemptId: string): Promise<void>
  expire(attemptId: string): Promise<void>
  apiKeyOf(attemptId: string): Promise<string | null>
}
export type PairingOptions = {
  readonly core: Core
  readonly unofficial: UnofficialConnector
  readonly numbers: Pick<Numbers, 'claim'>
  readonly pool: Pick<InstancePool, 'apiKey'>
  readonly start: AttemptStart
  readonly ephemeral: Ephemeral
  readonly callback: (reference: string) => { url: string; key: string }
}

/** A QR is a login secret that lives 20 s: never in the log, and asked for anew before it is stale. */
const QR_FRESH_MS = 12_000

export function createPairing(options: PairingOptions): Pairing {
  const { core, unofficial, numbers, pool, start, ephemeral } = options
  const { aggregates } = core
  const qrOf = (attemptId: string): string => `qr:${attemptId}`

  const ask = (attempt: Attempt, command: AttemptCommand) =>
    aggregates.attempts.ask(streamOf.attempt(attempt.id), command, ownCommand(core, attempt.tenantId, 'supervisor'))
  const read = (attemptId: string): Promise<Attempt> => aggregates.attempts.read(streamOf.attempt(attemptId))

  async function secretsOf(attemptId: string): Promise<AttemptSecrets | null> {
    type Started = Extract<AttemptEvent, { type: 'AttemptStarted' }>
    const started = await findEvent<Started>(
      core,
      streamOf.attempt(attemptId),
      event => event.type === 'AttemptStarted'
    )
    return started && unseal<AttemptSecrets>(core, started)
  }

  async function apiKeyOf(attemptId: string): Promise<string | null> {
    const { session } = await read(attemptId)
    if (!session) return null
    return session.own ? ((await secretsOf(attemptId))?.instanceApiKey ?? null) : pool.apiKey(session.baseUrl)
  }

  async function lineOf(attempt: Attempt): Promise<UnofficialLine | null> {
    if (!attempt.session) return null
    const { baseUrl, name, engine } = attempt.session
    return { kind: 'unofficial', baseUrl, apiKey: await apiKeyOf(attempt.id), session: name, engine: engine as Engine }
  }

  async function acceptsRisk(asker: Asker, input: AttemptInput): Promise<boolean> {
    const stream = streamOf.tenant(asker.tenantId)
    if (input.riskAcceptance === undefined)
      return (await aggregates.tenants.read(stream)).risks.includes(riskName(RISK_TRACK, RISK_TERMS))
    if (input.riskAcceptance.termsVersion !== RISK_TERMS) return false
    const command = { type: 'AcceptRisk', at: now(core), track: RISK_TRACK, termsVersion: RISK_TERMS } as const
    return (await aggregates.tenants.ask(stream, command, askedBy(asker))).ok
  }

  async function begin(attemptId: string): Promise<void> {
    const attempt = await read(attemptId)
    const line = await lineOf(attempt)
    if (!line) return
    const { url, key } = options.callback(attemptId)
    const started = await unofficial.start(line, { callbackUrl: url, callbackKey: key, reference: attemptId })
    if (started.kind === 'ok') return heard(attemptId, started.value)
    await fail(attempt, started.kind === 'unavailable' ? 'instance_unreachable' : started.code)
  }

  async function fail(attempt: Attempt, code: string): Promise<void> {
    const known = code === 'instance_unreachable' || code === 'credentials_rejected' || code === 'number_in_use'
    await ask(attempt, { type: 'Fail', at: now(core), code: known ? code : 'provider_rejected' })
    await end(attempt)
  }

  /** Forgets the session, best effort. */
  async function end(attempt: Attempt): Promise<void> {
    await ephemeral.delete(qrOf(attempt.id))
    const line = await lineOf(attempt)
    if (line) await unofficial.erase(line)
  }

  async function freshQr(attempt: Attempt): Promise<string | null> {
    const held = await ephemeral.get(qrOf(attempt.id))
    if (held) return held.toString()
    const line = await lineOf(attempt)
    const offered = line && (await unofficial.qr(line))
    if (offered?.kind !== 'ok' || offered.value === null) return null
    await ephemeral.put(qrOf(attempt.id), offered.value, QR_FRESH_MS)
    return offered.value
  }

  async function heard(attemptId: string, update: SessionUpdate): Promise<void> {
    const attempt = await read(attemptId)
    if (!isPairing(attempt)) return
    const line = await lineOf(attempt)
    if (!line) return
    switch (update.status) {
      case 'scan_qr':
        await ephemeral.delete(qrOf(attemptId))
        await freshQr(attempt)
        await ask(attempt, { type: 'OfferQr', at: now(core) })
        return
      case 'working': {
        const look = update.number === null ? await unofficial.look(line) : null
        const number = update.number ?? (look?.kind === 'ok' ? look.value.number : null)
        if (number === null) return
        await ask(attempt, { type: 'Pair', at: now(core), channelId: newId('ch', core), number })
        return finish(attemptId)
      }
      case 'failed':
      case 'stopped':
        // A QR sequence that merely ended starts again, until the attempt's own time is over.
        await unofficial.restart(line)
        return
      case 'missing':
        return begin(attemptId)
      case 'starting':
      case 'passkey_required':
        return
    }
  }

  async function finish(attemptId: string): Promise<void> {
    const attempt = await read(attemptId)
    const { state, session, channelId, number } = attempt
    if (state !== 'paired' || !session || channelId === null || number === null) return
    const { tenantId, label } = attempt
    const secrets = await secretsOf(attemptId)
    const creation = {
      channelId,
      tenantId,
      kind: 'unofficial',
      label,
      number,
      session,
      attemptId,
      source: 'connect'
    } as const
    const apiKey = secrets?.instanceApiKey === undefined ? {} : { instanceApiKey: secrets.instanceApiKey }
    const claimed = await numbers.claim({ tenantId, trace: newId('tr', core) }, creation, apiKey)
    if (claimed.ok) {
      await ephemeral.delete(qrOf(attemptId))
      const outcome = await ask(attempt, { type: 'Complete', at: now(core) })
      if (outcome.ok && outcome.position !== null) core.own.configured(tenantId, outcome.position)
    } else if (claimed.code === 'number_in_use') await fail(attempt, 'number_in_use')
  }

  async function mine(asker: Asker, attemptId: string): Promise<Attempt | null> {
    const attempt = await read(attemptId)
    return attempt.state !== 'none' && attempt.tenantId === asker.tenantId ? attempt : null
  }

  return {
    heard,
    finish,
    apiKeyOf,
    async start(asker, input) {
      if (!(await acceptsRisk(asker, input))) return refuse('risk_acceptance_required')
      const started = await start(asker, input, RISK_TERMS)
      if (!started.ok) return started
      const { attempt, failure } = started.value
      const work = failure === null ? begin(attempt.id) : fail(attempt, failure)
      work.catch(error => core.logger.warn({ err: error, attemptId: attempt.id }, 'attempt could not begin'))
      return ok({ attemptId: attempt.id, state: 'connecting', qr: null })
    },
    async poll(asker, attemptId) {
      const attempt = await mine(asker, attemptId)
      if (!attempt || attempt.state === 'cancelled') return refuse('channel_not_found')
      switch (attempt.state) {
        case 'scan_qr': {
          const qr = await freshQr(attempt)
          return ok(qr === null ? { attemptId, state: 'connecting' } : { attemptId, state: 'scan_qr', qr })
        }
        case 'connected':
          await core.own.settled(asker.tenantId)
          return ok({ state: 'connected', channelId: attempt.channelId ?? '', number: attempt.number ?? '' })
        case 'failed':
          return ok({ state: 'failed', ...(attempt.lastError === null ? {} : { lastError: attempt.lastError }) })
        case 'expired':
          return ok({ state: 'expired' })
        default:
          return ok({ attemptId, state: 'connecting' })
      }
    },
    async cancel(asker, attemptId) {
      const attempt = await mine(asker, attemptId)
      if (!attempt || attempt.state === 'cancelled') return refuse('channel_not_found')
      const outcome = await aggregates.attempts.ask(
        streamOf.attempt(attemptId),
        { type: 'Cancel', at: now(core) },
        askedBy(asker)
      )
      if (!outcome.ok) return refuse(outcome.code)
      end(attempt).catch(error => core.logger.warn({ err: error, attemptId }, 'session could not be erased'))
      return ok({ cancelled: true })
    },
    async expire(attemptId) {
      const attempt = await read(attemptId)
      const outcome = await ask(attempt, { type: 'Expire', at: now(core) })
      if (outcome.ok && outcome.events.length > 0) await end(attempt)
    }
  }
}
