import type { Position } from './port.ts'

export type FaultKind =
  | 'altered'
  | 'missing'
  | 'added'
  | 'reordered'
  | 'chain'
  | 'anchor_signature'
  | 'stream_head'
  | 'unreadable'

/** One thing that is wrong, at the earliest place where it shows. `position` 0: it has no place in the log's order. */
export type Fault = {
  readonly kind: FaultKind
  readonly position: Position
  readonly stream: string | null
  readonly revision: number | null
  readonly eventId: string | null
  readonly message: string
}

export type VerifyReport = {
  readonly ok: boolean
  readonly events: number
  readonly streams: number
  /** Events without content: erased, or left out of an export. Only their hashes were checked. */
  readonly withoutContent: number
  /** Events that are covered by anchors end here; 0 when there is no anchor. */
  readonly anchoredTo: Position
  /** Events after it: their chains hold, but whoever can write the file could have rewritten them. */
  readonly unanchored: { readonly from: Position; readonly to: Position; readonly count: number } | null
  /** Keys that signed the anchors, SPKI DER in base64: to be compared with the printed one. */
  readonly publicKeys: readonly string[]
  /** In log order, those without a place last; at most MAX_FAULTS. */
  readonly faults: readonly Fault[]
}

export const MAX_FAULTS = 100

const rank = ({ position }: Fault): number => position || Number.MAX_SAFE_INTEGER

/** Where a fault shows; what is not known is left out. */
export type Place = { readonly position?: Position } & Partial<Pick<Fault, 'stream' | 'revision' | 'eventId'>>

/** Collects faults, one for each position: anchors judge last, and they know best. */
export type Faults = {
  add(kind: FaultKind, place: Place, message: string): void
  /** Replaces what was said about the position. */
  replace(kind: FaultKind, place: Place, message: string): void
  list(): Fault[]
}

export function createFaults(): Faults {
  const byPlace = new Map<string, Fault>()

  function put(key: string, kind: FaultKind, place: Place, message: string): void {
    if (byPlace.size >= MAX_FAULTS && !byPlace.has(key)) return
    const { position = 0, stream = null, revision = null, eventId = null } = place
    const known = byPlace.get(key)
    byPlace.set(key, {
      kind,
      position,
      stream: stream ?? known?.stream ?? null,
      revision: revision ?? known?.revision ?? null,
      eventId: eventId ?? known?.eventId ?? null,
      message
    })
  }

  const keyOf = ({ position, stream }: Place, message: string) =>
    position ? `${position}` : `${stream ?? ''} ${message}`

  return {
    add(kind, place, message) {
      const key = keyOf(place, message)
      if (!byPlace.has(key)) put(key, kind, place, message)
    },
    replace: (kind, place, message) => put(keyOf(place, message), kind, place, message),
    list: () => [...byPlace.values()].sort((a, b) => rank(a) - rank(b))
  }
}
