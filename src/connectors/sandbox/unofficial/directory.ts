const LIDS_MAX = 100_000

/** Who is on the network, under which number, and which hidden ids are known. */
export type Directory = {
  missing: Set<string>
  /** Numbers registered without the ninth digit, in that short form (12 digits). */
  short: Set<string>
  /** The chat id the network knows a number by, or null when it is not on the network. */
  resolve(number: string): string | null
  learnLid(lid: string, number: string): void
  forgetLid(lid: string): void
  numberOf(lid: string): string | null
  lidOfNumber(number: string): string | null
  reset(): void
}

/** Country 55, two digits of area, then nine digits beginning with 9. */
const LONG_MOBILE = /^(55\d{2})9(\d{8})$/
/** The same without the ninth digit; landlines begin with 2 to 5. */
const SHORT_MOBILE = /^(55\d{2})([6-9]\d{7})$/

export const withoutNinthDigit = (number: string) => number.replace(LONG_MOBILE, '$1$2')

export function createDirectory(): Directory {
  const missing = new Set<string>()
  const short = new Set<string>()
  const numbers = new Map<string, string>()
  const lids = new Map<string, string>()

  return {
    missing,
    short,
    resolve(number) {
      if (missing.has(number)) return null
      const shortForm = withoutNinthDigit(number)
      if (short.has(shortForm)) return `${shortForm}@c.us`
      return `${number.replace(SHORT_MOBILE, '$19$2')}@c.us`
    },
    learnLid(lid, number) {
      if (numbers.size >= LIDS_MAX) return
      numbers.set(lid, number)
      lids.set(number, lid)
    },
    forgetLid(lid) {
      const number = numbers.get(lid)
      numbers.delete(lid)
      if (number !== undefined) lids.delete(number)
    },
    numberOf: lid => numbers.get(lid) ?? null,
    lidOfNumber: number => lids.get(number) ?? null,
    reset() {
      missing.clear()
      short.clear()
      numbers.clear()
      lids.clear()
    }
  }
}
