/** `ledgerline keys …`: through the running service where there is one, else on the files themselves. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Result } from '../actors/core.ts'
import type { Settings } from '../config/settings.ts'
import { PERMISSIONS, type Permission } from '../domain/tenant.ts'
import { DataDirInUse } from '../log/sqlite/lock.ts'
import type { ControlRequest } from '../service/control-commands.ts'
import { askService } from './ask-service.ts'
import { CommandFailed } from './exit.ts'
import { printJson, printTable } from './output.ts'
import { readKeys } from './read-keys.ts'
import { openLogToRead, requireLogFile } from './read-log.ts'
import { settingsOrExit } from './settings.ts'

export type CreateKeyOptions = {
  readonly tenant: string
  readonly name: string
  readonly permissions?: readonly Permission[]
  /** Milliseconds from now. */
  readonly expires?: number
}
export type ListKeysOptions = { readonly tenant: string; readonly json?: true }

/** A service that starts or stops holds DATA_DIR for a moment without listening. */
const OWNER_WAIT_MS = 2_000
const OWNER_STEP_MS = 100

export async function createKey({ tenant, name, permissions, expires }: CreateKeyOptions): Promise<void> {
  const key = {
    name,
    ...(permissions === undefined ? {} : { permissions: [...permissions] }),
    ...(expires === undefined ? {} : { expiresAt: new Date(Date.now() + expires).toISOString() })
  }
  printJson(await done(settingsOrExit(), { command: 'keys create', tenant, key }))
}

export async function listKeys({ tenant, json }: ListKeysOptions): Promise<void> {
  const log = await openLogToRead(settingsOrExit('read').storage)
  const keys = await readKeys(log, tenant).finally(() => log.close())
  if (!keys) throw new CommandFailed(`there is no tenant ${tenant}`)
  if (json) return printJson(keys)
  const rows = keys.items.map(({ id, name, permissions, lastFour, createdAt, expiresAt }) => {
    return [id, name, `…${lastFour}`, createdAt, expiresAt ?? 'never', granted(permissions)]
  })
  printTable([['ID', 'NAME', 'KEY', 'CREATED', 'EXPIRES', 'PERMISSIONS'], ...rows])
}

export async function revokeKey(keyId: string): Promise<void> {
  const settings = settingsOrExit()
  // Making a key is the only command that may begin a log.
  if (settings.storage.eventStoreUrl === null) requireLogFile(settings.storage.dataDir)
  await done(settings, { command: 'keys revoke', keyId })
  process.stdout.write(`${keyId} is revoked\n`)
}

function granted(permissions: readonly Permission[]): string {
  const missing = PERMISSIONS.filter(permission => !permissions.includes(permission))
  if (missing.length === 0) return 'all'
  return missing.length === 1 ? `all but ${missing[0]}` : permissions.join(',')
}

async function done(settings: Settings, request: ControlRequest): Promise<unknown> {
  const result = await asked(settings, request)
  if (result.ok) return result.value
  throw new CommandFailed(REFUSALS[result.code] ?? `refused: ${result.code}`)
}

const REFUSALS: Readonly<Record<string, string>> = {
  resource_not_found: 'there is no live key of this id',
  overloaded: 'the event log takes no writes now; the log lines of the service say why',
  unknown_command: 'the running service does not know this command: it is of another version',
  malformed_request: 'the running service does not understand this command: it is of another version',
  internal_error: 'the running service failed; its log lines say why'
}

async function asked(settings: Settings, request: ControlRequest): Promise<Result<unknown>> {
  const giveUpAt = Date.now() + OWNER_WAIT_MS
  for (;;) {
    const answer = await askService(settings.storage.dataDir, request)
    if (answer) return answer
    try {
      return await runAlone(settings, request)
    } catch (error) {
      if (!(error instanceof DataDirInUse) || Date.now() > giveUpAt) throw error
      await wait(OWNER_STEP_MS)
    }
  }
}

async function runAlone(settings: Settings, request: ControlRequest): Promise<Result<unknown>> {
  const { withKeys } = await import('./keys-alone.ts')
  const { runControlCommand } = await import('../service/control-commands.ts')
  // A key is found by its id in the views; making one needs only streams.
  const asksViews = request.command === 'keys revoke'
  return withKeys(settings, asksViews, (keys, views) => runControlCommand(request, keys, views))
}
