import t from 'tap'
import {
  DEFAULT_PERMISSIONS,
  DESTINATIONS_MAX,
  type TenantCommand,
  type TenantEvent,
  tenant
} from '../../src/domain/tenant.ts'
import { checkRows } from '../support/decider.ts'
import { at, id, mustBeWritable } from '../support/domain.ts'

const created: TenantEvent = { type: 'TenantCreated', at: at(0), data: { tenantId: id('tn', 't'), name: 'demo' } }
const create: TenantCommand = { type: 'Create', at: at(0), tenantId: id('tn', 't'), name: 'demo' }
const keyData = {
  keyId: id('key', 'k'),
  name: 'first',
  digest: 'ab'.repeat(32),
  permissions: DEFAULT_PERMISSIONS,
  lastFour: 'wxyz'
}
const createKey: TenantCommand = { type: 'CreateKey', at: at(1), ...keyData, expiresAt: null }
const keyCreated: TenantEvent = { type: 'ApiKeyCreated', at: at(1), data: keyData }
const revokeKey = (keyId: string): TenantCommand => ({ type: 'RevokeKey', at: at(2), keyId })
const revoked: TenantEvent = {
  type: 'ApiKeyRevoked',
  at: at(2),
  data: { keyId: keyData.keyId, digest: keyData.digest }
}
const accept: TenantCommand = { type: 'AcceptRisk', at: at(1), track: 'unofficial', termsVersion: 'unofficial-v1' }
const accepted: TenantEvent = {
  type: 'RiskAccepted',
  at: at(1),
  data: { track: 'unofficial', termsVersion: 'unofficial-v1' }
}

const secrets = { secret: 'whsec_0123' }
const url = (name: string): string => `https://${name}.test/hook`
const register = (name: string): TenantCommand => ({
  type: 'RegisterDestination',
  at: at(1),
  destinationId: id('whd', name),
  url: url(name),
  secrets
})
const registered = (name: string): TenantEvent => ({
  type: 'DestinationRegistered',
  at: at(1),
  data: { destinationId: id('whd', name), url: url(name) },
  subject: 'tenant',
  sealed: secrets
})
const readdress = (name: string, to: string): TenantCommand => ({
  type: 'ReaddressDestination',
  at: at(2),
  destinationId: id('whd', name),
  url: url(to)
})
const deregister = (destinationId: string): TenantCommand => ({
  type: 'DeregisterDestination',
  at: at(2),
  destinationId
})
const deregistered: TenantEvent = {
  type: 'DestinationDeregistered',
  at: at(2),
  data: { destinationId: id('whd', 'a') }
}
const readdressed: TenantEvent = {
  type: 'DestinationReaddressed',
  at: at(2),
  data: { destinationId: id('whd', 'a'), url: url('z') }
}
const five = ['a', 'b', 'c', 'd', 'e'].map(registered)

t.test('keys and risks', async t =>
  checkRows(t, tenant, [
    { line: 'created', given: [], when: create, expect: [created] },
    { line: 'created once', given: [created], when: create, expect: [] },
    { line: 'no tenant has no keys', given: [], when: createKey, expect: { rejected: 'resource_not_found' } },
    { line: 'a key', given: [created], when: createKey, expect: [keyCreated] },
    {
      line: 'a key with an end',
      given: [created],
      when: { ...createKey, expiresAt: at(99) } as TenantCommand,
      expect: [{ type: 'ApiKeyCreated', at: at(1), data: { ...keyData, expiresAt: at(99) } }]
    },
    { line: 'the same key again', given: [created, keyCreated], when: createKey, expect: [] },
    { line: 'a key is revoked', given: [created, keyCreated], when: revokeKey(keyData.keyId), expect: [revoked] },
    {
      line: 'no such key',
      given: [created],
      when: revokeKey(keyData.keyId),
      expect: { rejected: 'resource_not_found' }
    },
    {
      line: 'no such key, whatever objects inherit',
      given: [created],
      when: revokeKey('constructor'),
      expect: { rejected: 'resource_not_found' }
    },
    { line: 'a risk is accepted', given: [created], when: accept, expect: [accepted] },
    { line: 'a risk is accepted once', given: [created, accepted], when: accept, expect: [] }
  ])
)

t.test('destinations', async t =>
  checkRows(t, tenant, [
    { line: 'registered', given: [created], when: register('a'), expect: [registered('a')] },
    { line: 'registered once', given: [created, registered('a')], when: register('a'), expect: [] },
    {
      line: 'its url is taken',
      given: [created, registered('a')],
      when: { ...register('b'), url: url('a') } as TenantCommand,
      expect: { rejected: 'webhook_endpoint_url_taken' }
    },
    { line: 'the fifth', given: [created, ...five.slice(0, 4)], when: register('e'), expect: [registered('e')] },
    {
      line: 'the sixth is refused',
      given: [created, ...five],
      when: register('f'),
      expect: { rejected: 'webhook_endpoint_limit' }
    },
    {
      line: 'a place becomes free',
      given: [created, ...five, deregistered],
      when: register('f'),
      expect: [registered('f')]
    },
    { line: 'readdressed', given: [created, registered('a')], when: readdress('a', 'z'), expect: [readdressed] },
    { line: 'readdressed: to the same', given: [created, registered('a')], when: readdress('a', 'a'), expect: [] },
    {
      line: 'readdressed: taken',
      given: [created, registered('a'), registered('b')],
      when: readdress('a', 'b'),
      expect: { rejected: 'webhook_endpoint_url_taken' }
    },
    {
      line: 'readdressed: no such destination',
      given: [created],
      when: readdress('a', 'z'),
      expect: { rejected: 'resource_not_found' }
    },
    {
      line: 'deregistered',
      given: [created, registered('a')],
      when: deregister(id('whd', 'a')),
      expect: [deregistered]
    },
    { line: 'deregistered: no such destination', given: [created], when: deregister('constructor'), expect: [] }
  ])
)

t.test('state', async t => {
  t.equal(DESTINATIONS_MAX, 5)
  t.notOk(DEFAULT_PERMISSIONS.includes('keys:write'))
  for (const event of [created, keyCreated, revoked, accepted, ...five, readdressed, deregistered])
    t.doesNotThrow(() => mustBeWritable(event))
})
