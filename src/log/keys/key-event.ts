/** How events of key streams are written: before anything that needs the key, and without the keyring that the codec asks. */
import type { Event } from '../../domain/event.ts'
import { timeOrderedId } from '../../domain/ids.ts'
import { encrypt } from '../encryption.ts'
import { entropy } from '../entropy.ts'
import type { AppendOptions, AppendResult, EventLog } from '../port.ts'

export type KeyAppend = Exclude<AppendResult, { kind: 'invalid' }>

export const keyEventId = (at: string): string => timeOrderedId('evt', Date.parse(at), entropy(10))

/** `sealingKey`: seals the event's personal part. */
export function appendKeyEvent(
  log: EventLog,
  stream: string,
  expected: number,
  { id, event }: { readonly id: string; readonly event: Event },
  tenantId: string | null,
  sealingKey?: Buffer,
  options?: AppendOptions
): Promise<KeyAppend> {
  const sealed = sealingKey ? { sealed: encrypt(sealingKey, JSON.stringify(event.sealed), id) } : {}
  const body = JSON.stringify({ v: 1, data: event.data, ...sealed })
  const meta = JSON.stringify({ tenant: tenantId, trace: null, cause: null, source: 'keyring', at: event.at })
  return log.append(stream, expected, [{ id, type: event.type, body, meta }], options).then(valid)
}

function valid(result: AppendResult): KeyAppend {
  if (result.kind === 'invalid') throw new Error(`key stream refused: ${result.reason}`)
  return result
}
