import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { Variables } from './settings.ts'

/** The variables of a `.env` file; none when there is no such file. Throws when it is there and cannot be read. */
export const readEnvFile = (path: string): Variables => {
  try {
    return { ...parseEnv(readFileSync(path, 'utf8')) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

/** The environment wins over the file, by an empty value too: `REDIS_URL= npm start` unsets it for once. */
export const joinVariables = (file: Variables, own: Variables): Variables => ({ ...file, ...own })
