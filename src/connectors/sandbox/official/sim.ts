import type { IncomingHttpHeaders } from 'node:http'
import type { JsonObject } from './json.ts'
import type { State, Token } from './state.ts'
import type { StatusUpdate } from './status-updates.ts'
import type { Timeline } from './timeline.ts'
import type { createWamids } from './wamid.ts'
import type { Webhooks } from './webhooks.ts'

/** Everything a route may touch. `origin` is known once the server listens. */
export type Sim = {
  state: State
  webhooks: Webhooks
  /** A list goes out as one webhook, a single status may be batched with others under load. */
  timeline: Timeline<StatusUpdate | StatusUpdate[]>
  wamids: ReturnType<typeof createWamids>
  /** Template reviews under way. */
  reviews: Set<NodeJS.Timeout>
  /** Answers held back by a fault. */
  held: Set<NodeJS.Timeout>
  now(): number
  origin: string
}

/** One management call. `path` starts after the version; `body` merges JSON or form members with the query. */
export type Call = {
  method: string
  path: string[]
  version: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  raw: Buffer
  body: JsonObject
  token: Token
}
