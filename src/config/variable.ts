import { z } from 'zod'

/** How the value of a variable may be shown when it is wrong. */
export type Display = 'plain' | 'secret' | 'url' | 'instances'

/** What people are told about a variable. */
export type About = {
  /** What holds while it is unset, in Markdown. */
  readonly preset: string
  /** The rule as an error line ends with it: "allowed: …". */
  readonly allowed: string
  readonly meaning: string
  readonly display: Display
}

type Told = {
  readonly allowed: string
  readonly meaning: string
  readonly preset?: string
  readonly display?: Display
}

/** Keeps what is told about a variable beside its shape. */
export const about = z.registry<About>()

const tell = <T>(shape: z.ZodType<T, string | undefined>, preset: string, told: Told) =>
  shape.register(about, { preset, display: 'plain', ...told })

/** A variable that has a value of its own, written as the environment would hold it, while it is unset. */
export const withDefault = <T>(fallback: string, shape: z.ZodType<T, string>, told: Told) =>
  tell(shape.prefault(fallback), `\`${fallback}\``, told)

/** A variable that is null while it is unset. */
export const optional = <T>(shape: z.ZodType<T, string>, told: Told) =>
  tell(
    shape.optional().transform((value): T | null => value ?? null),
    'empty',
    told
  )
