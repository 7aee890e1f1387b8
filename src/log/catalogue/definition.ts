/** What the catalogue knows of an event type, and the proof that its schemas are the domain's types. */
import type { z } from 'zod'
import type { Event } from '../../domain/event.ts'

export type EventDefinition = {
  readonly type: string
  /** Version that is written now. */
  readonly version: number
  /** Stream, as it reads in the documentation: `message-msg_…`. */
  readonly stream: string
  readonly by: string
  readonly about: string
  readonly data: z.ZodType
  /** The personal or secret part; null when the type has none. */
  readonly sealed: z.ZodType | null
  /** Whose key seals it; null when nothing is sealed. */
  readonly key: SealingKey | null
  /** `upcasters[v]` turns data of version v into version v + 1. */
  readonly upcasters: Readonly<Record<number, (data: unknown) => unknown>>
}

export type SealingKey = 'contact' | 'tenant'

/** How a definition is written down: what most types have in common is left out. */
type Entry = {
  readonly version?: number
  readonly stream: string
  readonly by: string
  readonly about: string
  readonly data: z.ZodType
  readonly sealed?: z.ZodType
  readonly key?: SealingKey
  readonly upcasters?: EventDefinition['upcasters']
}

/** Readonly all the way down: whether a member may be assigned is no part of the comparison. */
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> }
    : T

type Same<A, B> = [Frozen<A>] extends [Frozen<B>] ? ([Frozen<B>] extends [Frozen<A>] ? true : false) : false

type OfType<E extends Event, Type> = Extract<E, { readonly type: Type }>
/** The sealed part of an event; undefined when its type declares none. */
type SealedOf<E extends Event> = unknown extends E['sealed'] ? undefined : NonNullable<E['sealed']>
type SealedSchemaOutput<T extends Entry> = T extends { readonly sealed: infer S extends z.ZodType }
  ? z.output<S>
  : undefined

/** Every entry whose schema does not have exactly the domain's type turns into a sentence that nothing satisfies. */
type Proven<Entries extends Record<string, Entry>, E extends Event> = {
  readonly [Type in keyof Entries]: Type extends E['type']
    ? Same<z.output<Entries[Type]['data']>, OfType<E, Type>['data']> extends true
      ? Same<SealedSchemaOutput<Entries[Type]>, SealedOf<OfType<E, Type>>> extends true
        ? unknown
        : 'the sealed schema is not of the domain type'
      : 'the data schema is not of the domain type'
    : 'no event of the domain has this type'
} & { readonly [Type in E['type']]: unknown }

/** The definitions of the events `E`: one for each type, none besides, each with exactly the domain's shape. */
export function definitionsOf<E extends Event>() {
  return <const Entries extends Record<string, Entry>>(entries: Entries & Proven<Entries, E>): EventDefinition[] =>
    Object.entries<Entry>(entries).map(([type, entry]) => ({
      version: 1,
      upcasters: {},
      ...entry,
      type,
      sealed: entry.sealed ?? null,
      key: entry.key ?? null
    }))
}
