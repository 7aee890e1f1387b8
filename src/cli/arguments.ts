/** What may stand behind an option. Each throws InvalidArgumentError, which ends the command with exit code 2. */
import { InvalidArgumentError } from 'commander'
import { isId } from '../domain/ids.ts'
import { PERMISSIONS, type Permission } from '../domain/tenant.ts'

const NAME_MAX = 80
const EXPIRES_MAX_MS = 3_650 * 86_400_000
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** Name of a tenant or a key: a line of text. */
export function nameArgument(text: string): string {
  const name = text.trim()
  if (name === '' || name.length > NAME_MAX || /[\p{Cc}\p{Cs}]/u.test(name))
    throw new InvalidArgumentError(`Allowed: 1 to ${NAME_MAX} characters on one line.`)
  return name
}

/** `all`, or a comma list. */
export function permissionsArgument(text: string): readonly Permission[] {
  if (text === 'all') return PERMISSIONS
  const words = new Set(text.split(',').map(word => word.trim()))
  const known = PERMISSIONS.filter(permission => words.has(permission))
  if (known.length !== words.size)
    throw new InvalidArgumentError(`Allowed: all, or a comma list of ${PERMISSIONS.join(', ')}.`)
  return known
}

/** A time from now on, in milliseconds: `90d`, `12h`, `30m`. */
export function lifetimeArgument(text: string): number {
  const [, amount = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const ms = Number(amount) * (UNIT_MS[unit] ?? 0)
  if (!(ms > 0 && ms <= EXPIRES_MAX_MS))
    throw new InvalidArgumentError('Allowed: minutes, hours or days such as 30m, 12h or 90d, up to 3650d.')
  return ms
}

export function keyIdArgument(text: string): string {
  if (!isId('key', text))
    throw new InvalidArgumentError('A key id looks like key_01hv… and has 26 characters behind the _.')
  return text
}

/** An ISO 8601 date (midnight UTC) or time with its zone; as ISO 8601 UTC. */
export function instantArgument(text: string): string {
  const at = INSTANT.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at)) throw new InvalidArgumentError('Allowed: 2026-01-31, or 2026-01-31T09:00:00Z.')
  return new Date(at).toISOString()
}

export function portArgument(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new InvalidArgumentError('Allowed: a whole number from 0 (any free port) to 65535.')
  return port
}

/** Of a destination; an empty one is a command substitution that went wrong. */
export function secretArgument(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty: leave the option out to check no signatures.')
  return text
}

/** Collects an option that may be given several times. */
export const repeatedArgument = (text: string, before: readonly string[] = []): readonly string[] => [...before, text]
