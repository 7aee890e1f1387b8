/**
 * Which types of events a log holds, and in which versions. Both homes keep the list beside the log, with an entry before
 * the first event of its kind: so a start knows what it would meet without reading the history.
 */
import { catalogue, UnknownEventVersion } from './catalogue/catalogue.ts'
import type { NewEvent } from './port.ts'

export type EventVersion = { readonly type: string; readonly version: number }

/** `version` is 0 where the body does not begin with one. */
export function versionOf({ type, body }: Pick<NewEvent, 'type' | 'body'>): EventVersion {
  return { type, version: body.startsWith(VERSION_FIRST) ? Number.parseInt(body.slice(VERSION_FIRST.length), 10) : 0 }
}

/** Every body that the codec writes begins so. */
const VERSION_FIRST = '{"v":'

export type VersionSet = {
  has(version: EventVersion): boolean
  add(version: EventVersion): void
  list(): readonly EventVersion[]
}

export function createVersionSet(known: readonly EventVersion[] = []): VersionSet {
  const byType = new Map<string, Set<number>>()
  const set: VersionSet = {
    has: ({ type, version }) => byType.get(type)?.has(version) === true,
    add({ type, version }) {
      const versions = byType.get(type)
      if (versions) versions.add(version)
      else byType.set(type, new Set([version]))
    },
    list: () => [...byType].flatMap(([type, versions]) => [...versions].map(version => ({ type, version })))
  }
  for (const version of known) set.add(version)
  return set
}

/** Throws UnknownEventVersion for the first that this program cannot read (decisions §1, MASTER_KEY): a newer one wrote it. */
export function refuseUnknown(held: readonly EventVersion[]): void {
  for (const { type, version } of held)
    if (!catalogue.knows(type, version)) throw new UnknownEventVersion(type, version)
}
