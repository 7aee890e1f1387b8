export type Fields = Record<string, unknown>

/** Reads of untyped JSON: the value when it has the asked type, else undefined. */
export const asString = (value: unknown) => (typeof value === 'string' ? value : undefined)
export const asNumber = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)
export const asBoolean = (value: unknown) => (typeof value === 'boolean' ? value : undefined)
export const asArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object itself, or an empty one, for reading optional nested fields. */
export const asFields = (value: unknown): Fields => (isFields(value) ? value : {})
