/**
 * The sessions of unofficial numbers and of pairing attempts: what their instances say, by callback or when asked.
 * Callbacks can be lost, so each live session is also looked at every SESSION_POLL_SECONDS.
 */
import type { Engine, UnofficialConnector, UnofficialLine, Update } from '../connectors/port.ts'
import { isPairing } from '../domain/attempt.ts'
import { isId } from '../domain/ids.ts'
import { streamOf } from './aggregates.ts'
import { type Core, now, ownCommand } from './core.ts'
import type { Lines } from './lines.ts'
import type { Pairing } from './pairing.ts'
import { restrict } from './restrictions.ts'

export type SessionUpdate = Omit<Extract<Update, { kind: 'session' }>, 'kind'>

export type SessionNews = {
  heard(reference: string, update: SessionUpdate): Promise<void>
  /** The channel that an attempt has become; `pairing` while it may become one; null when it never will. */
  standsFor(attemptId: string): Promise<{ channelId: string } | 'pairing' | null>
}

export type SupervisorOptions = {
  readonly core: Core
  readonly lines: Lines
  readonly unofficial: UnofficialConnector
  readonly pairing: Pairing
  readonly pollMs: number
  readonly graceMs: number
}
export type Supervisor = SessionNews & { start(): void; stop(): Promise<void> }

/** Attempts are looked at more often than numbers: somebody stands there with a phone. */
const PAIRING_POLL_MS = 3_000

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { core, lines, unofficial, pairing } = options
  const { aggregates, views, clock } = core
  /** Channel → since when its session has not been working. */
  const notWorkingSince = new Map<string, number>()
  const graceTimers = new Map<string, () => void>()
  const running = new Set<Promise<unknown>>()
  let cancelPoll: (() => void) | null = null
  let lastNumberPoll = 0
  let stopping = false

  async function channelHeard(channelId: string, update: SessionUpdate): Promise<void> {
    const stream = streamOf.channel(channelId)
    const channel = await aggregates.channels.read(stream)
    if (channel.state === 'none' || channel.state === 'deleted') return
    const context = () => ownCommand(core, channel.tenantId, 'supervisor')
    if (update.restriction) {
      const { active, until } = update.restriction
      if (active) await restrict(core, channel, { code: 'new_contacts_blocked', until, source: 'supervisor' })
      else await aggregates.channels.ask(stream, { type: 'LiftRestriction', at: now(core) }, context())
    }
    if (update.status !== 'working') return missed(channelId)
    settled(channelId)
    const at = now(core)
    if (channel.state !== 'connected')
      await aggregates.channels.ask(
        stream,
        { type: 'MarkConnected', at, source: 'supervisor', number: null },
        context()
      )
    if (channel.lastError !== null) await aggregates.channels.ask(stream, { type: 'ClearTrouble', at }, context())
  }

  function settled(channelId: string): void {
    notWorkingSince.delete(channelId)
    graceTimers.get(channelId)?.()
    graceTimers.delete(channelId)
  }

  /** Not working now: down only when it lasts, for engines reconnect by themselves. */
  function missed(channelId: string): void {
    if (notWorkingSince.has(channelId)) return
    notWorkingSince.set(channelId, clock.now())
    graceTimers.set(
      channelId,
      clock.after(options.graceMs, () => {
        const ended = markDown(channelId).catch(error => {
          // The next poll begins anew.
          settled(channelId)
          throw error
        })
        track(ended)
      })
    )
  }

  async function markDown(channelId: string): Promise<void> {
    const since = notWorkingSince.get(channelId)
    if (stopping || since === undefined) return
    // That it works again may have been told to another node.
    const line = await lineOf(channelId)
    const seen = line && (await unofficial.look(line))
    if (stopping || notWorkingSince.get(channelId) !== since) return
    settled(channelId)
    if (seen?.kind === 'ok' && seen.value.status === 'working') return channelHeard(channelId, seen.value)
    const channel = await aggregates.channels.read(streamOf.channel(channelId))
    const command = { type: 'MarkDown', at: now(core), source: 'supervisor', reason: 'session_dropped' } as const
    await aggregates.channels.ask(
      streamOf.channel(channelId),
      command,
      ownCommand(core, channel.tenantId, 'supervisor')
    )
  }

  async function standsFor(attemptId: string): Promise<{ channelId: string } | 'pairing' | null> {
    if (!isId('cxn', attemptId)) return null
    const attempt = await aggregates.attempts.read(streamOf.attempt(attemptId))
    if (attempt.state === 'connected' && attempt.channelId !== null) return { channelId: attempt.channelId }
    return isPairing(attempt) || attempt.state === 'paired' ? 'pairing' : null
  }

  async function heard(reference: string, update: SessionUpdate): Promise<void> {
    const target = isId('ch', reference) ? { channelId: reference } : await standsFor(reference)
    if (target === 'pairing') await pairing.heard(reference, update)
    else if (target) await channelHeard(target.channelId, update)
  }

  async function lookAt(reference: string, line: UnofficialLine): Promise<void> {
    const seen = await unofficial.look(line)
    if (seen.kind === 'ok') await heard(reference, seen.value)
    else if (seen.kind === 'unavailable' && isId('ch', reference)) missed(reference)
  }

  async function lookAtAttempt(attemptId: string): Promise<void> {
    const attempt = await aggregates.attempts.read(streamOf.attempt(attemptId))
    if (!isPairing(attempt) || !attempt.session) return
    const { baseUrl, name, engine } = attempt.session
    const apiKey = await pairing.apiKeyOf(attemptId)
    await lookAt(attemptId, { kind: 'unofficial', baseUrl, apiKey, session: name, engine: engine as Engine })
  }

  /** Null when nobody expects its session to work. */
  async function lineOf(channelId: string): Promise<UnofficialLine | null> {
    const channel = await aggregates.channels.read(streamOf.channel(channelId))
    if (channel.kind !== 'unofficial' || channel.state === 'disconnected' || channel.state === 'deleted') return null
    const line = await lines.of(channel)
    return line?.kind === 'unofficial' ? line : null
  }

  async function lookAtNumber(channelId: string): Promise<void> {
    const line = await lineOf(channelId)
    if (line) await lookAt(channelId, line)
  }

  async function poll(): Promise<void> {
    await Promise.allSettled(views.liveAttempts().filter(core.works).map(lookAtAttempt))
    if (clock.now() - lastNumberPoll < options.pollMs) return
    lastNumberPoll = clock.now()
    await Promise.allSettled(views.channelIds().filter(core.works).map(lookAtNumber))
  }

  function track(work: Promise<unknown>): void {
    running.add(work)
    work
      .catch(error => core.logger.warn({ err: error }, 'session supervision failed'))
      .finally(() => running.delete(work))
  }

  function schedule(): void {
    cancelPoll = clock.after(Math.min(PAIRING_POLL_MS, options.pollMs), () => {
      track(poll().finally(() => !stopping && schedule()))
    })
  }

  return {
    heard,
    standsFor,
    start: schedule,
    async stop() {
      stopping = true
      cancelPoll?.()
      for (const cancel of graceTimers.values()) cancel()
      await Promise.allSettled([...running])
    }
  }
}
