import type { Fields } from './fields.ts'
import { ulid } from './ids.ts'
import type { Delivery } from './webhooks.ts'
import type { Session, World } from './world.ts'

export const environmentOf = (world: World) => ({
  version: world.version,
  engine: world.engine,
  tier: 'CORE',
  browser: null,
  platform: 'linux/x64'
})

/** Whether any receiver of the session asked for this event; spares building payloads nobody reads. */
export const isSubscribed = (session: Session, event: string) =>
  session.targets.some(target => target.events.has(event) || target.events.has('*'))

/** What the session itself reports: nothing at all while it is silenced. */
export function emit(world: World, session: Session, event: string, payload: Fields): Delivery[] {
  return session.silent ? [] : post(world, session, event, payload)
}

/** One event to every receiver that asked for it, in the envelope of section 6.2. */
export function post(world: World, session: Session, event: string, payload: unknown): Delivery[] {
  const targets = session.targets.filter(target => target.events.has(event) || target.events.has('*'))
  if (targets.length === 0) return []
  const now = world.now()
  const login = session.login
  const body = JSON.stringify({
    id: `evt_${ulid(now)}`,
    timestamp: now,
    event,
    session: session.name,
    metadata: session.config.metadata ?? {},
    me: login ? { id: `${login.number}@c.us`, pushName: login.pushName } : null,
    payload,
    engine: world.engine,
    environment: environmentOf(world)
  })
  return targets.map(target => world.webhooks.deliver(target, body))
}

/** Status of the first try: the worst one when several receivers answered, null when nobody was asked. */
export async function firstStatusOf(deliveries: Delivery[]): Promise<number | null> {
  if (deliveries.length === 0) return null
  const statuses = await Promise.all(deliveries.map(delivery => delivery.first))
  return statuses.find(status => status < 200 || status >= 300) ?? statuses[0] ?? null
}
