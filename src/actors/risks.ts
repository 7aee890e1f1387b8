/** Terms of risk that a tenant accepts, once each (channel-service, risk acceptance; decisions §4). */
import type { RiskRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import { type Asker, askedBy, type Core, now, ok, type Result, refuse } from './core.ts'
import { RISK_TERMS, RISK_TRACK } from './pairing.ts'

export type Risks = {
  /** Accepting again changes nothing; terms that are not the current ones are `validation_failed`. */
  accept(asker: Asker, input: { readonly track: string; readonly termsVersion: string }): Promise<Result<RiskRow>>
  /** Oldest first. */
  list(asker: Asker): Promise<readonly RiskRow[]>
}

export function createRisks(core: Core): Risks {
  const { views, aggregates, own } = core

  async function list({ tenantId }: Asker): Promise<readonly RiskRow[]> {
    await own.settled(tenantId)
    return views.risks(tenantId)
  }

  return {
    list,
    async accept(asker, { track, termsVersion }) {
      if (track !== RISK_TRACK) return invalid('track', RISK_TRACK)
      if (termsVersion !== RISK_TERMS) return invalid('termsVersion', RISK_TERMS)
      const at = now(core)
      const command = { type: 'AcceptRisk', at, track, termsVersion } as const
      const outcome = await aggregates.tenants.ask(streamOf.tenant(asker.tenantId), command, askedBy(asker))
      if (!outcome.ok) return refuse(outcome.code)
      if (outcome.events.length > 0) return ok({ track, termsVersion, acceptedAt: at })
      const first = (await list(asker)).find(row => row.track === track && row.termsVersion === termsVersion)
      return first ? ok(first) : refuse('overloaded')
    }
  }
}

const invalid = (path: string, allowed: string): Result<never> => ({
  ok: false,
  code: 'validation_failed',
  details: [{ path, message: `must be ${allowed}` }]
})
