/** Waiting for something that happens in another process: looked at until it is so, or until its time is over. */

const LOOK_EVERY_MS = 10
const LIMIT_MS = 30_000

type Nothing = undefined | null | false

/** Resolves with the first answer that is something; rejects, naming what was awaited and how far it got, when time is up. */
export async function eventually<T>(
  what: string,
  look: () => T | Nothing | Promise<T | Nothing>,
  options: { limitMs?: number; seen?: () => unknown } = {}
): Promise<T> {
  const limitMs = options.limitMs ?? LIMIT_MS
  const deadline = Date.now() + limitMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found
    if (Date.now() > deadline) {
      const seen = options.seen ? `; last seen: ${JSON.stringify(options.seen())}` : ''
      throw new Error(`${what} did not happen within ${limitMs} ms${seen}`)
    }
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
