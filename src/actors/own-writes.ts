/** Reads see the caller's own earlier writes on this node (decisions §2, architecture rule 7). */
import type { Views } from '../projections/port.ts'

export type OwnWrites = {
  wrote(tenant: string | null, position: number): void
  /** A change of numbers, keys or destinations: admission must see it at once. */
  configured(tenant: string | null, position: number): void
  /** Resolves when the views show everything that this node wrote for the tenant, or after 250 ms. */
  settled(tenant: string): Promise<void>
  /** The same for configuration alone; null when there is nothing to wait for. */
  configurationSettled(tenant: string): Promise<unknown> | null
}

const WAIT_MS = 250
/** Tenants remembered; one that is forgotten has long been caught up with. */
const TENANTS_MAX = 10_000

export function createOwnWrites(views: Pick<Views, 'position' | 'caughtUp'>): OwnWrites {
  const written = new Map<string, number>()
  const configured = new Map<string, number>()

  function note(positions: Map<string, number>, tenant: string | null, position: number): void {
    if (tenant === null) return
    if (positions.size >= TENANTS_MAX)
      for (const [name, seen] of positions) if (seen <= views.position()) positions.delete(name)
    if ((positions.get(tenant) ?? 0) < position) positions.set(tenant, position)
  }

  return {
    wrote: (tenant, position) => note(written, tenant, position),
    configured: (tenant, position) => note(configured, tenant, position),
    async settled(tenant) {
      const position = Math.max(written.get(tenant) ?? 0, configured.get(tenant) ?? 0)
      if (views.position() < position) await views.caughtUp(position, WAIT_MS)
    },
    configurationSettled(tenant) {
      const position = configured.get(tenant) ?? 0
      return views.position() >= position ? null : views.caughtUp(position, WAIT_MS)
    }
  }
}
