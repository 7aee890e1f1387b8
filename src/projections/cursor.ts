/** Opaque list cursors: the key of the last item of a page, named after its list. */

/** The cursor did not come from this list (decisions §2: 422). */
export class BadCursor extends Error {
  override readonly name = 'BadCursor'
}

export type ListName = 'channels' | 'audit' | 'deliveries'

const PATTERN = /^([a-z]+):(\d{1,16})$/

export function encodeCursor(list: ListName, key: number): string {
  return Buffer.from(`${list}:${key}`).toString('base64url')
}

/** The key after which the page begins. Throws BadCursor. */
export function decodeCursor(list: ListName, cursor: string): number {
  const [, name, key] = PATTERN.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  const number = Number(key)
  // Decoding forgives what we would never write; only the very text that we gave out is ours.
  if (name !== list || !Number.isSafeInteger(number) || encodeCursor(list, number) !== cursor)
    throw new BadCursor(`not a cursor of the list of ${list}`)
  return number
}

/** Cuts a list that was read one item too long into a page and the cursor of the next one. */
export function pageOf<Stored, T>(
  list: ListName,
  rows: readonly Stored[],
  limit: number,
  keyOf: (row: Stored) => number,
  itemOf: (row: Stored) => T
): { items: readonly T[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor = rows.length > limit && last ? encodeCursor(list, keyOf(last)) : null
  return { items: shown.map(itemOf), nextCursor }
}
