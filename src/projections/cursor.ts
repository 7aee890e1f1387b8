/** Opaque list cursors: the place of the last item of a page, named after its list. */

/** The cursor did not come from this list (decisions §2: 422). */
export class BadCursor extends Error {
  override readonly name = 'BadCursor'
}

export type ListName = 'channels' | 'audit' | 'deliveries' | 'messages' | 'templates'
/** Where an item stands in the order of its list: numbers, the first of them first. */
export type Place = readonly number[]

const PATTERN = /^([a-z]+):(\d{1,16}(?:\.\d{1,16}){0,3})$/

export function encodeCursor(list: ListName, place: Place): string {
  return Buffer.from(`${list}:${place.join('.')}`).toString('base64url')
}

/** The place after which the page begins, of `length` numbers. Throws BadCursor. */
export function decodeCursor(list: ListName, cursor: string, length: number): Place {
  const [, name, text = ''] = PATTERN.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  const place = text.split('.').map(Number)
  const isOurs = name === list && place.length === length && place.every(Number.isSafeInteger)
  // Decoding forgives what we would never write; only the very text that we gave out is ours.
  if (!isOurs || encodeCursor(list, place) !== cursor) throw new BadCursor(`not a cursor of the list of ${list}`)
  return place
}

/** The one number of a place; `none` where the list begins. */
export function decodeNumber(list: ListName, cursor: string | null, none: number): number {
  return cursor === null ? none : (decodeCursor(list, cursor, 1)[0] ?? none)
}

/** Cuts a list that was read one item too long into a page and the cursor of the next one. */
export function pageOf<Stored, T>(
  list: ListName,
  rows: readonly Stored[],
  limit: number,
  placeOf: (row: Stored) => Place,
  itemOf: (row: Stored) => T
): { items: readonly T[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor = rows.length > limit && last ? encodeCursor(list, placeOf(last)) : null
  return { items: shown.map(itemOf), nextCursor }
}
