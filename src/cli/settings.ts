import { joinVariables, readEnvFile } from '../config/env-file.ts'
import { formatProblems } from '../config/problems.ts'
import { loadSettings, type Settings } from '../config/settings.ts'
import { CommandFailed, EXIT } from './exit.ts'

/** The settings of the environment and of `.env`; ends the process with one line per problem when they are wrong. */
export function settingsOrExit(): Settings {
  const loaded = loadSettings(joinVariables(readEnvFile('.env'), process.env))
  if (loaded.ok) return loaded.settings
  process.stderr.write(`${formatProblems(loaded.problems)}\n`)
  process.exit(EXIT.usage)
}

/** The settings of a command that works on the files of the embedded log. */
export function embeddedSettings(): Settings {
  const settings = settingsOrExit()
  if (settings.storage.eventStoreUrl !== null)
    throw new CommandFailed('EVENTSTORE_URL is set, but this command knows the embedded log only')
  return settings
}
