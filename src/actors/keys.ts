/** API keys (decisions §2): `llk_` and 43 base64url characters, of which only the SHA-256 is stored. */
import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { DEFAULT_PERMISSIONS, type Permission } from '../domain/tenant.ts'
import type { KeyRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import {
  type Asker,
  askedBy,
  type Core,
  newId,
  now,
  ok,
  ownCommand,
  type Result,
  refuse,
  seenEverything,
  sha256
} from './core.ts'

export type KeyOwner = {
  readonly tenantId: string
  readonly keyId: string
  readonly permissions: readonly Permission[]
}
export type KeyInput = {
  readonly name: string
  readonly permissions?: readonly Permission[]
  readonly expiresAt?: string
}

export type Keys = {
  /**
   * Null: missing, unknown, revoked or expired. A promise only where the views have to be waited for; it rejects with
   * LogUnavailable when they cannot know.
   */
  authenticate(apiKey: string): KeyOwner | null | Promise<KeyOwner | null>
  create(
    asker: Asker & { permissions: readonly Permission[] },
    input: KeyInput
  ): Promise<Result<KeyRow & { apiKey: string }>>
  list(asker: Asker): Promise<readonly KeyRow[]>
  revoke(asker: Asker, keyId: string): Promise<Result<null>>
  /** For the command line: a tenant of this name (made when new) and a key for it. */
  issue(tenantName: string, input: KeyInput): Promise<Result<{ tenantId: string; keyId: string; apiKey: string }>>
}

const KEY_BYTES = 32
/** Unknown keys are remembered this long, so that one that is tried over and over does not wait for the views each time. */
const UNKNOWN_MS = 1_000
const UNKNOWN_MAX = 10_000
const SHAPE = /^llk_[A-Za-z0-9_-]{43}$/

export function createKeys(core: Core): Keys {
  const { views, aggregates, clock } = core
  /** Digest → when it was found to be nobody's. */
  const unknown = new LRUCache<string, number>({ max: UNKNOWN_MAX })

  async function add(
    asker: Asker,
    input: KeyInput,
    permissions: readonly Permission[],
    source: 'api' | 'cli'
  ): Promise<Result<KeyRow & { apiKey: string }>> {
    const apiKey = `llk_${randomBytes(KEY_BYTES).toString('base64url')}`
    const at = now(core)
    const key = {
      keyId: newId('key', core),
      name: input.name,
      permissions,
      lastFour: apiKey.slice(-4),
      expiresAt: input.expiresAt ?? null
    }
    const command = { type: 'CreateKey', at, digest: sha256(apiKey), ...key } as const
    const outcome = await aggregates.tenants.ask(streamOf.tenant(asker.tenantId), command, askedBy(asker, source))
    if (!outcome.ok) return refuse(outcome.code)
    unknown.delete(command.digest)
    if (outcome.position !== null) core.own.configured(asker.tenantId, outcome.position)
    const { keyId, ...shown } = key
    return ok({ id: keyId, tenantId: asker.tenantId, ...shown, createdAt: at, revoked: false, apiKey })
  }

  async function tenantNamed(name: string, trace: string): Promise<string> {
    const context = ownCommand(core, null, 'cli', { trace })
    const claim = { type: 'NameTenant', at: now(core), tenantId: newId('tn', core), name } as const
    const claimed = await aggregates.claims.ask(streamOf.tenantName(sha256(name)), claim, context)
    const tenantId = claimed.ok ? claimed.state.tenantId : null
    if (tenantId === null) throw new Error(`tenant ${name} could not be named`)
    await core.keyring.createTenant(tenantId, now(core))
    const create = { type: 'Create', at: now(core), tenantId, name } as const
    await aggregates.tenants.ask(streamOf.tenant(tenantId), create, ownCommand(core, tenantId, 'cli', { trace }))
    return tenantId
  }

  function ownerOf(row: KeyRow | null): KeyOwner | null {
    if (!row || row.revoked || (row.expiresAt !== null && row.expiresAt <= now(core))) return null
    return { tenantId: row.tenantId, keyId: row.id, permissions: row.permissions }
  }

  async function sought(digest: string): Promise<KeyOwner | null> {
    if (clock.now() - (unknown.get(digest) ?? Number.NEGATIVE_INFINITY) < UNKNOWN_MS) return null
    // It may have been made a moment ago, here or on another node, and it does not tell its tenant's stream: only views that
    // have passed the end of the log can say no.
    await seenEverything(core)
    const row = views.keyByDigest(digest)
    if (!row) unknown.set(digest, clock.now())
    return ownerOf(row)
  }

  return {
    authenticate(apiKey) {
      if (!SHAPE.test(apiKey)) return null
      const digest = sha256(apiKey)
      const row = views.keyByDigest(digest)
      if (!row) return sought(digest)
      const waiting = core.own.configurationSettled(row.tenantId)
      return waiting ? waiting.then(() => ownerOf(views.keyByDigest(digest))) : ownerOf(row)
    },
    async create(asker, input) {
      const wanted = input.permissions ?? DEFAULT_PERMISSIONS
      // A key can only grant permissions that it has itself (decisions §2).
      if (wanted.some(permission => !asker.permissions.includes(permission))) return refuse('forbidden')
      return add(asker, input, wanted, 'api')
    },
    async list(asker) {
      await core.own.settled(asker.tenantId)
      return views.keys(asker.tenantId).filter(key => !key.revoked)
    },
    async revoke(asker, keyId) {
      const command = { type: 'RevokeKey', at: now(core), keyId } as const
      const outcome = await aggregates.tenants.ask(streamOf.tenant(asker.tenantId), command, askedBy(asker))
      if (!outcome.ok) return refuse(outcome.code)
      if (outcome.position !== null) core.own.configured(asker.tenantId, outcome.position)
      return ok(null)
    },
    async issue(tenantName, input) {
      const trace = newId('tr', core)
      const tenantId = await tenantNamed(tenantName, trace)
      const made = await add({ tenantId, trace }, input, input.permissions ?? DEFAULT_PERMISSIONS, 'cli')
      return made.ok ? ok({ tenantId, keyId: made.value.id, apiKey: made.value.apiKey }) : made
    }
  }
}
