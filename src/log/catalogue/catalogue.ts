/** The event catalogue: each type's version, schema, stream, author and meaning. `docs/events.md` is generated from it. */
import { attemptDefinitions } from './attempt.ts'
import { channelDefinitions } from './channel.ts'
import { claimDefinitions } from './claim.ts'
import type { EventDefinition } from './definition.ts'
import { destinationDefinitions } from './destination.ts'
import { messageDefinitions } from './message.ts'
import { recordDefinitions } from './records.ts'
import { tenantDefinitions } from './tenant.ts'

export type { EventDefinition } from './definition.ts'

export type Catalogue = {
  /** Throws for a type that the catalogue does not hold: nobody may write it. */
  definition(type: string): EventDefinition
  /** Whether this program can read events of the type in this version. */
  knows(type: string, version: number): boolean
  /** Stored data in today's shape. Throws `UnknownEventVersion`. */
  upcast(type: string, version: number, data: unknown): unknown
  all(): readonly EventDefinition[]
}

/** The log holds something that this program does not know: written by a newer one, so the service refuses to start. */
export class UnknownEventVersion extends Error {
  override readonly name = 'UnknownEventVersion'
  readonly type: string
  readonly version: number

  constructor(type: string, version: number) {
    super(`the log holds version ${version} of ${type}, which this program does not know`)
    this.type = type
    this.version = version
  }
}

/** Throws when two definitions have one type or an upcaster is missing. */
export function createCatalogue(definitions: readonly EventDefinition[]): Catalogue {
  const byType = new Map(definitions.map(definition => [definition.type, definition]))
  if (byType.size < definitions.length) throw new Error('an event type is defined twice')
  for (const { type, version, upcasters } of definitions)
    for (let from = 1; from < version; from++)
      if (!upcasters[from]) throw new Error(`${type} has no upcaster from version ${from}`)

  const isKnown = (found: EventDefinition | undefined, version: number): found is EventDefinition =>
    found !== undefined && Number.isSafeInteger(version) && version >= 1 && version <= found.version

  return {
    knows: (type, version) => isKnown(byType.get(type), version),
    definition(type) {
      const found = byType.get(type)
      if (!found) throw new Error(`event type ${type} is not in the catalogue`)
      return found
    },
    upcast(type, version, data) {
      const found = byType.get(type)
      if (found?.version === version) return data
      if (!isKnown(found, version)) throw new UnknownEventVersion(type, version)
      let current = data
      for (let from = version; from < found.version; from++) current = found.upcasters[from]?.(current)
      return current
    },
    all: () => [...byType.values()]
  }
}

export const catalogue: Catalogue = createCatalogue([
  ...tenantDefinitions,
  ...claimDefinitions,
  ...channelDefinitions,
  ...attemptDefinitions,
  ...messageDefinitions,
  ...destinationDefinitions,
  ...recordDefinitions
])
