/** Names and times for tests of the domain. */
import type { Event } from '../../src/domain/event.ts'
import type { IdPrefix } from '../../src/domain/ids.ts'
import { catalogue } from '../../src/log/catalogue/catalogue.ts'

/** An id that reads like its name: `id('ch', 'a')`. Letters of Crockford base32 only. */
export const id = (prefix: IdPrefix, name = '0'): string => `${prefix}_${name.padStart(26, '0')}`

/** So many seconds after the tests' midnight. */
export const at = (seconds: number): string => new Date(Date.UTC(2024, 4, 1) + seconds * 1000).toISOString()

/** Throws unless the event may be written: clear and sealed part both have the catalogue's shape. */
export function mustBeWritable(event: Event): void {
  const definition = catalogue.definition(event.type)
  definition.data.parse(event.data)
  if (event.sealed === undefined) return
  if (!definition.sealed || event.subject === undefined) throw new Error(`${event.type} may not have a sealed part`)
  definition.sealed.parse(event.sealed)
}
