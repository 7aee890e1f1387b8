import t from 'tap'
import type { ChannelCreation } from '../../src/domain/channel.ts'
import { type ClaimCommand, type ClaimEvent, claim } from '../../src/domain/claim.ts'
import { checkRows, fold } from '../support/decider.ts'
import { at, id, mustBeWritable } from '../support/domain.ts'

const creation: ChannelCreation = {
  channelId: id('ch', 'a'),
  tenantId: id('tn', 't'),
  kind: 'official',
  label: null,
  number: '4917012345678',
  source: 'connect'
}
const secrets = { accessToken: 'token' }
const take = (holder: ChannelCreation): ClaimCommand => ({ type: 'ClaimNumber', at: at(1), creation: holder, secrets })
const other = { ...creation, channelId: id('ch', 'b') }
const claimed: ClaimEvent = { type: 'NumberClaimed', at: at(1), data: { creation }, subject: 'tenant', sealed: secrets }
const release = (channelId: string): ClaimCommand => ({ type: 'ReleaseNumber', at: at(2), channelId })
const released: ClaimEvent = { type: 'NumberReleased', at: at(2), data: { channelId: creation.channelId } }
const name = (tenantId: string): ClaimCommand => ({ type: 'NameTenant', at: at(1), tenantId, name: 'demo' })
const named: ClaimEvent = { type: 'TenantNamed', at: at(1), data: { tenantId: id('tn', 't'), name: 'demo' } }

t.test('claims', async t =>
  checkRows(t, claim, [
    { line: 'a free number is claimed', given: [], when: take(creation), expect: [claimed] },
    { line: 'claimed: by its own channel again', given: [claimed], when: take(creation), expect: [] },
    {
      line: 'claimed: by the same tenant for another channel',
      given: [claimed],
      when: take(other),
      expect: { rejected: 'number_in_use' }
    },
    {
      line: 'claimed → released: its channel was deleted',
      given: [claimed],
      when: release(creation.channelId),
      expect: [released]
    },
    { line: "claimed: another channel's release", given: [claimed], when: release(other.channelId), expect: [] },
    { line: 'free: nothing to release', given: [], when: release(creation.channelId), expect: [] },
    { line: 'released: claimed anew', given: [claimed, released], when: take(creation), expect: [claimed] },
    { line: 'a free name is taken', given: [], when: name(id('tn', 't')), expect: [named] },
    { line: 'a taken name stays with its tenant', given: [named], when: name(id('tn', 'z')), expect: [] }
  ])
)

t.test('holder', async t => {
  t.equal(fold(claim, [claimed]).holder, creation.channelId)
  t.equal(fold(claim, [claimed, released]).holder, null)
  t.equal(fold(claim, [named]).holder, id('tn', 't'))
  for (const event of [claimed, released, named]) t.doesNotThrow(() => mustBeWritable(event))
})
