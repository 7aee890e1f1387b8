import { readFileSync } from 'node:fs'

/** Of package.json, which stands three folders above the built file. */
export const version = (
  JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }
).version
