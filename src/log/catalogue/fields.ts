/** The kinds of field that events are made of. They say what the domain writes, not what a client may send. */
import { z } from 'zod'
import { type IdPrefix, idPattern } from '../../domain/ids.ts'

export const id = (prefix: IdPrefix) =>
  z
    .string()
    .regex(idPattern(prefix))
    .meta({ title: `id \`${prefix}_…\`` })

/** Deciders compare times as text: only this one form sorts as time does. */
export const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .meta({ title: 'time, ISO 8601 UTC with milliseconds' })

/** An error code or a kind: a word of ours. */
export const word = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,79}$/)
  .meta({ title: 'word in lower case' })

export const hex = (length: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9a-f]{${length}}$`))
    .meta({ title: `${length} hex digits` })

/** 128 bits of HMAC under the tenant's index key. */
export const blindIndex = hex(32).meta({ title: 'blind index, 32 hex digits' })

export const base64 = z
  .string()
  .regex(/^[A-Za-z0-9+/]+={0,2}$/)
  .meta({ title: 'base64' })

/** A number of the service in digits, without `+`. */
export const phoneNumber = z
  .string()
  .regex(/^\d{4,20}$/)
  .meta({ title: 'number in digits' })

export const text = (maximum: number) => z.string().min(1).max(maximum)

export const count = z.int().min(0)
