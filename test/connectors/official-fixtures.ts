import type { Test } from 'tap'
import { parseOfficialCallback } from '../../src/connectors/official/callbacks.ts'
import { createOfficialConnector } from '../../src/connectors/official/connector.ts'
import type { Content, OfficialLine, Outbound, Update } from '../../src/connectors/port.ts'
import { type Reaction, startRecordingServer } from './recording-server.ts'

export const METADATA = { display_phone_number: '5511900000000', phone_number_id: '100' }
export const COMMON = { from: '5511900000001', id: 'wamid.IN', timestamp: '1767000000' }
export const CONTACTS = [{ profile: { name: 'Ana' }, wa_id: '5511900000001', user_id: 'BR.13491208655302741918' }]
export const AT = '2025-12-29T09:20:00.000Z'

export function envelope(field: string, value: object): object {
  return { object: 'whatsapp_business_account', entry: [{ id: '900', changes: [{ field, value }] }] }
}

export function updatesOf(body: unknown): Update[] {
  return parseOfficialCallback(body).flatMap(change => change.updates)
}

export function only(body: unknown): Update | undefined {
  const updates = updatesOf(body)
  return updates.length === 1 ? updates[0] : undefined
}

export const LINE: OfficialLine = { kind: 'official', phoneNumberId: '100', wabaId: '900', accessToken: 'EAAB-token' }
export const ACCEPTED: Reaction = {
  status: 200,
  body: {
    messaging_product: 'whatsapp',
    contacts: [{ input: '+5511900000001', wa_id: '551100000001' }],
    messages: [{ id: 'wamid.OUT' }]
  }
}

export function outbound(content: Content, extra: Partial<Outbound> = {}): Outbound {
  return { messageId: 'msg_1', to: '5511900000001', content, quotedProviderId: null, targetProviderId: null, ...extra }
}

export const TEXT = outbound({ kind: 'text', text: 'Oi' })

export const patience = () => AbortSignal.timeout(10_000)

export async function connect(
  t: Test,
  react: () => Reaction,
  options: { timeoutMs?: number; connections?: number } = {}
) {
  const server = await startRecordingServer(react)
  const connector = createOfficialConnector({ baseUrl: `${server.baseUrl}/v23.0`, timeoutMs: 5_000, ...options })
  t.teardown(async () => {
    await server.close()
    await connector.close()
  })
  return { server, connector }
}
