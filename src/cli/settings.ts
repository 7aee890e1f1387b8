import { joinVariables, readEnvFile } from '../config/env-file.ts'
import { formatProblems } from '../config/problems.ts'
import { loadSettings, type Purpose, type Settings } from '../config/settings.ts'
import { EXIT } from './exit.ts'

/** The settings of the environment and of `.env`; ends the process with one line per problem when they are wrong. */
export function settingsOrExit(purpose: Purpose = 'serve'): Settings {
  const loaded = loadSettings(joinVariables(readEnvFile('.env'), process.env), undefined, purpose)
  if (loaded.ok) return loaded.settings
  process.stderr.write(`${formatProblems(loaded.problems)}\n`)
  process.exit(EXIT.usage)
}
