import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

/** Shapes of single settings: each takes the text of a variable, trimmed and not empty, and gives a typed value. */

const MASTER_KEY_BYTES = 32

/** A shape out of a function that answers undefined for a text that it does not take. */
const parsed = <T>(parse: (text: string) => T | undefined) =>
  z.string().transform((text, context): T => {
    const value = parse(text)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: 'not allowed' })
    return z.NEVER
  })

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')

const decimalOf = (text: string): number | undefined => (/^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined)

const within = (value: number | undefined, min: number, max: number): number | undefined =>
  value !== undefined && value >= min && value <= max ? value : undefined

export const visibleText = (maxLength: number) =>
  parsed(text => (/^[\x21-\x7e]+$/.test(text) && text.length <= maxLength ? text : undefined))

export const path = () => parsed(text => (text.includes('\0') ? undefined : text))

export const matching = (pattern: RegExp) => parsed(text => (pattern.test(text) ? text : undefined))

export const oneOf = <T extends string>(values: readonly T[]) => parsed(text => values.find(value => value === text))

export const flag = () => parsed(text => (text === 'true' ? true : text === 'false' ? false : undefined))

export const integer = (min: number, max: number) =>
  parsed(text => within(/^\d{1,9}$/.test(text) ? Number(text) : undefined, min, max))

/** A length of time in the unit of the variable's name, fractions allowed, as milliseconds. */
export const duration = (unitMs: number, min: number, max: number) =>
  parsed(text => {
    const value = within(decimalOf(text), min, max)
    return value === undefined ? undefined : Math.round(value * unitMs)
  })

/** A comma list of waits in seconds, as milliseconds. */
export const waits = (maxItems: number, maxSeconds: number) =>
  parsed(text => {
    const items = text.split(',').map(item => within(decimalOf(item.trim()), 0, maxSeconds))
    const known = items.filter(item => item !== undefined)
    return known.length === items.length && items.length <= maxItems
      ? known.map(seconds => Math.round(seconds * 1000))
      : undefined
  })

export const words = (maxItems: number) =>
  parsed(text => {
    const items = splitList(text).map(item => item.toLowerCase())
    return items.length <= maxItems ? items : undefined
  })

export const ipAddress = () => parsed(text => (isIP(text) === 0 ? undefined : text))

const isRange = (text: string): boolean =>
  isIP(text) !== 0 || ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text)

export const ranges = () =>
  parsed(text => {
    const items = splitList(text)
    return items.every(isRange) ? items : undefined
  })

/** An http or https address that paths are added to: no user-info, query or fragment, and no slash at the end. */
export const baseUrlOf = (text: string): string | undefined => {
  if (!/^https?:\/\/[^\s\\@?#]+$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text).href.replace(/\/+$/, '')
}

export const baseUrl = () => parsed(baseUrlOf)

export const baseUrls = () =>
  parsed(text => {
    const items = splitList(text).map(baseUrlOf)
    const known = items.filter(item => item !== undefined)
    return known.length === items.length ? known : undefined
  })

/** A connection string with something in the place of the host; what else is in it is its driver's business. */
export const urlOfScheme = (schemes: readonly string[]) =>
  parsed(text => {
    const scheme = schemes.find(one => text.startsWith(`${one}://`))
    if (scheme === undefined || /\s/.test(text)) return undefined
    const [authority = ''] = text.slice(scheme.length + 3).split(/[/?#]/)
    return authority === '' || authority.endsWith('@') ? undefined : text
  })

/** 32 bytes in canonical base64. */
export const masterKey = () =>
  parsed(text => {
    const key = Buffer.from(text, 'base64')
    return key.length === MASTER_KEY_BYTES && key.toString('base64') === text ? key : undefined
  })
