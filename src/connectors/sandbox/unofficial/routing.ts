import type { IncomingHttpHeaders } from 'node:http'
import type { Fields } from './fields.ts'
import type { World } from './world.ts'

export type Call = {
  method: string
  path: string
  params: Record<string, string>
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: Fields
}

/** What the server does with a call; `after` runs once the answer is on its way (or the socket gone). */
export type Answer =
  | { kind: 'json'; status: number; body: unknown; after?: () => void }
  | { kind: 'empty'; status: number; after?: () => void }
  | { kind: 'bytes'; status: number; type: string; body: Buffer; after?: () => void }
  | { kind: 'hang'; after?: () => void }
  | { kind: 'reset'; after?: () => void }

export type Handler = (world: World, call: Call) => Answer | Promise<Answer>
/** Keys are `METHOD /path/:parameter`. */
export type Routes = Record<string, Handler>
export type Route = { handler: Handler; params: Record<string, string> }

export const json = (status: number, body: unknown): Answer => ({ kind: 'json', status, body })
export const isAnswer = (value: object): value is Answer => 'kind' in value

const NO_PARAMS = {}

/** Paths without parameters are found in one look-up (the send path), the rest segment by segment, first match wins. */
export function createRouter(routes: Routes): (method: string, path: string) => Route | null {
  const fixed = new Map<string, Handler>()
  const patterns: { segments: string[]; handler: Handler }[] = []
  for (const [key, handler] of Object.entries(routes)) {
    if (key.includes(':')) patterns.push({ segments: segmentsOf(key), handler })
    else fixed.set(key, handler)
  }

  return (method, path) => {
    const handler = fixed.get(`${method} ${path}`)
    if (handler) return { handler, params: NO_PARAMS }
    const segments = segmentsOf(`${method} ${path}`)
    for (const pattern of patterns) {
      const params = match(pattern.segments, segments)
      if (params) return { handler: pattern.handler, params }
    }
    return null
  }
}

const segmentsOf = (key: string) => key.split(/[ /]/).filter(segment => segment !== '')

function match(pattern: string[], segments: string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null
  const params: Record<string, string> = {}
  for (const [index, wanted] of pattern.entries()) {
    const given = segments[index] ?? ''
    if (wanted.startsWith(':')) params[wanted.slice(1)] = unescaped(given)
    else if (wanted !== given) return null
  }
  return params
}

function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
