/** The start of a pairing attempt: a place for its session, and the attempt in the log. */
import type { Attempt, AttemptSecrets } from '../domain/attempt.ts'
import { streamOf } from './aggregates.ts'
import { iso } from './clock.ts'
import { type Asker, askedBy, type Core, newId, now, ok, ownCommand, type Result, refuse } from './core.ts'
import type { InstancePool, Place } from './instance-pool.ts'
import type { AttemptInput } from './pairing.ts'

export type StartedAttempt = {
  readonly attempt: Attempt
  /** The instance was asked and cannot host it. */
  readonly failure: string | null
}
export type AttemptStart = (asker: Asker, input: AttemptInput, termsVersion: string) => Promise<Result<StartedAttempt>>
export type AttemptStartOptions = {
  readonly core: Core
  readonly pool: InstancePool
  readonly ttlMs: number
}

/** Others may be faster to the last place of an instance: then the next one is looked for, so often. */
const TRIES = 4
/** For the views to show the attempt, and everything before it. */
const SHOWN_MS = 2_000

export function createAttemptStart({ core, pool, ttlMs }: AttemptStartOptions): AttemptStart {
  const { aggregates, views, clock } = core

  async function append(asker: Asker, input: AttemptInput, { baseUrl, engine, own }: Place, termsVersion: string) {
    const attemptId = newId('cxn', core)
    const secrets: AttemptSecrets = {
      ...(input.credentials?.apiKey === undefined ? {} : { instanceApiKey: input.credentials.apiKey }),
      ...(input.declaredNumber === undefined ? {} : { declaredNumber: input.declaredNumber })
    }
    const command = {
      type: 'Start',
      at: now(core),
      attemptId,
      tenantId: asker.tenantId,
      label: input.label ?? null,
      session: { name: attemptId, baseUrl, engine, own },
      expiresAt: iso(clock.now() + ttlMs),
      termsVersion,
      secrets: Object.keys(secrets).length > 0 ? secrets : null
    } as const
    return aggregates.attempts.ask(streamOf.attempt(attemptId), command, askedBy(asker), { fresh: true })
  }

  /** The attempt has not got the place, or nobody can tell in time: it is taken back, and its id was never told. */
  async function takeBack({ id, tenantId }: Attempt): Promise<void> {
    const context = ownCommand(core, tenantId, 'api')
    await aggregates.attempts.ask(streamOf.attempt(id), { type: 'Cancel', at: now(core) }, context)
  }

  return async (asker, input, termsVersion) => {
    for (let tries = 1; tries <= TRIES; tries++) {
      await core.own.settled(asker.tenantId)
      const found = await pool.find(input)
      if (!found.ok) return found
      const place = found.value
      const started = await append(asker, input, place, termsVersion)
      if (!started.ok) return refuse(started.code)
      const { state: attempt, position } = started
      if (place.own) return ok({ attempt, failure: place.failure })
      const isShown = position !== null && (await views.caughtUp(position, SHOWN_MS))
      if (isShown && pool.holds(place, attempt.id)) return ok({ attempt, failure: place.failure })
      await takeBack(attempt)
      if (!isShown) return refuse('overloaded')
    }
    return refuse('no_unofficial_instance_available')
  }
}
