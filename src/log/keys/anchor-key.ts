/** The Ed25519 key that signs anchors: made at the first start, kept in the log wrapped by the master key, so that every node has it. */
import { generateKeyPairSync } from 'node:crypto'
import type { AnchorKeyCreated } from '../../domain/record.ts'
import { eventId } from '../codec.ts'
import { type EventLog, NO_STREAM } from '../port.ts'
import type { MasterKey } from './master-key.ts'

export type AnchorKey = {
  /** SPKI DER, base64. */
  readonly publicKey: string
  /** PKCS8 DER, base64. */
  readonly privateKey: string
}

export const ANCHOR_KEY_STREAM = 'keys-anchor'

/** Null: no master key at hand opens this log. */
export async function anchorKey(log: EventLog, masters: readonly MasterKey[], at: string): Promise<AnchorKey | null> {
  const stored = await read(log)
  if (stored) return open(stored, masters)
  const [master] = masters
  if (!master) return null
  const pair = generateKeyPairSync('ed25519')
  const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  const wrapped = master.wrap(pair.privateKey.export({ format: 'der', type: 'pkcs8' }), ANCHOR_KEY_STREAM)
  const data: AnchorKeyCreated['data'] = { publicKey, wrapped, masterKeyId: master.id }
  const id = eventId(ANCHOR_KEY_STREAM, publicKey, 0, at)
  const meta = JSON.stringify({ tenant: null, trace: null, cause: null, source: 'service', at })
  const body = JSON.stringify({ v: 1, data })
  await log.append(ANCHOR_KEY_STREAM, NO_STREAM, [{ id, type: 'AnchorKeyCreated', body, meta }])
  const winner = await read(log)
  return winner && open(winner, masters)
}

async function read(log: EventLog): Promise<AnchorKeyCreated['data'] | null> {
  for await (const event of log.read(ANCHOR_KEY_STREAM, { limit: 1 }))
    return (JSON.parse(event.body) as { data: AnchorKeyCreated['data'] }).data
  return null
}

function open(stored: AnchorKeyCreated['data'], masters: readonly MasterKey[]): AnchorKey | null {
  for (const master of masters) {
    const key = master.unwrap(stored.wrapped, ANCHOR_KEY_STREAM)
    if (key) return { publicKey: stored.publicKey, privateKey: key.toString('base64') }
  }
  return null
}
