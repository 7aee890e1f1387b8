import { badParameter } from './errors.ts'
import type { JsonObject } from './json.ts'
import type { Call, Sim } from './sim.ts'
import { type Answer, json } from './wire.ts'

const DEFAULT_LIMIT = 25
const MAX_LIMIT = 100

/** Names in a `fields` parameter; sub-selections in braces are ignored. */
function fieldNames(text: string): string[] {
  let flat = text
  while (/\{[^{}]*\}/.test(flat)) flat = flat.replace(/\{[^{}]*\}/g, '')
  return flat.split(',').flatMap(name => name.trim() || [])
}

/** The asked fields of an object, `defaults` when nothing was asked; refuses a field that does not exist. */
export function pick(all: JsonObject, call: Call, defaults: readonly string[]): JsonObject | Answer {
  const asked = call.query.get('fields')
  const names = asked ? [...new Set(['id', ...fieldNames(asked)])] : defaults
  const unknown = names.find(name => !(name in all))
  if (unknown !== undefined) return badParameter(`Tried accessing nonexisting field (${unknown})`)
  return Object.fromEntries(names.flatMap(name => (all[name] === undefined ? [] : [[name, all[name]]])))
}

export const isAnswer = (value: JsonObject | Answer): value is Answer =>
  typeof value.status === 'number' && typeof value.body === 'string'

export function one(all: JsonObject, call: Call, defaults: readonly string[]): Answer {
  const picked = pick(all, call, defaults)
  return isAnswer(picked) ? picked : json(picked)
}

const cursorOf = (index: number) => Buffer.from(`QV${index}`).toString('base64url')
const indexOf = (cursor: string | null) =>
  cursor === null ? -1 : Number(Buffer.from(cursor, 'base64url').toString().slice(2))

/** A page of a list with cursors; `next` is there only when another page follows. */
export function page(sim: Sim, call: Call, items: readonly JsonObject[], defaults: readonly string[]): Answer {
  const asked = Number(call.query.get('limit') ?? DEFAULT_LIMIT)
  const limit = Number.isInteger(asked) && asked > 0 ? Math.min(asked, MAX_LIMIT) : DEFAULT_LIMIT
  const from = indexOf(call.query.get('after')) + 1
  if (!Number.isInteger(from)) return badParameter('Invalid cursor')
  const data: JsonObject[] = []
  for (const item of items.slice(from, from + limit)) {
    const picked = pick(item, call, defaults)
    if (isAnswer(picked)) return picked
    data.push(picked)
  }
  if (data.length === 0) return json({ data })
  const after = cursorOf(from + data.length - 1)
  const paging: JsonObject = { cursors: { before: cursorOf(from), after } }
  if (from + data.length < items.length) {
    const next = new URLSearchParams(call.query)
    next.delete('access_token')
    next.set('limit', String(limit))
    next.set('after', after)
    paging.next = `${sim.origin}/${call.version}/${call.path.join('/')}?${next}`
  }
  return json({ data, paging })
}
