import type { Test } from 'tap'
import type { Content, Outbound, UnofficialLine, Update } from '../../src/connectors/port.ts'
import { parseUnofficialCallback } from '../../src/connectors/unofficial/callbacks.ts'
import { createUnofficialConnector } from '../../src/connectors/unofficial/connector.ts'
import { type Reaction, type Recorded, startRecordingServer } from './recording-server.ts'

export const AT = '2025-12-29T09:20:00.000Z'
export const ME = { id: '5511900000000@c.us', pushName: 'Acme' }

export const envelope = (event: string, payload: unknown, extra: object = {}) => ({
  id: 'evt_01jnn8zz5w3q8r0s6t4v2x1y0z',
  timestamp: 1767000000123,
  event,
  session: 's1',
  metadata: { ref: 'cxn_01h' },
  me: ME,
  payload,
  engine: 'NOWEB',
  environment: { version: '2026.7.1' },
  ...extra
})

export const updateOf = (event: string, payload: unknown, extra: object = {}): Update | undefined =>
  parseUnofficialCallback(envelope(event, payload, extra)).updates[0]

export const MESSAGE = {
  id: 'false_5511900000001@c.us_3A0011223344556677AA',
  timestamp: 1767000000,
  from: '5511900000001@c.us',
  fromMe: false,
  source: 'app',
  to: '5511900000000@c.us',
  participant: null,
  body: 'Oi',
  hasMedia: false,
  media: null,
  ack: 1,
  ackName: 'SERVER',
  location: null,
  vCards: [],
  replyTo: null
}
export const INBOUND = {
  kind: 'inbound',
  providerId: '3A0011223344556677AA',
  from: '5511900000001',
  alias: null,
  profileName: null,
  quotedProviderId: null,
  message: { kind: 'text', text: 'Oi' },
  providerAt: AT
}
export const message = (extra: object) => updateOf('message.any', { ...MESSAGE, ...extra })

export const REACTION = {
  id: 'false_5511900000001@c.us_3A01',
  timestamp: 1767000000.853,
  from: '5511900000001@c.us',
  fromMe: false,
  source: 'app',
  to: '5511900000000@c.us',
  participant: null,
  reaction: { text: '🙏', messageId: 'true_5511900000001@c.us_3EB0A1B2C3D4E5F60718' }
}

export const ACK = {
  id: 'true_5511900000001@c.us_3EB0A1B2C3D4E5F60718',
  from: '5511900000001@c.us',
  to: '5511900000000@c.us',
  participant: null,
  fromMe: true,
  ack: 3,
  ackName: 'READ'
}
export const STATUS = {
  kind: 'status',
  providerId: '3EB0A1B2C3D4E5F60718',
  messageId: null,
  status: 'read',
  code: null,
  reactionCode: null,
  providerCode: null,
  restriction: null,
  providerAt: '2025-12-29T09:20:00.123Z',
  address: '5511900000001',
  alias: null
}

export const CHAT = '5511900000001@c.us'
export const SENT: Reaction = { status: 201, body: { id: `true_${CHAT}_3EB0A1`, _data: { Info: {}, Message: {} } } }
export const FOUND: Reaction = { status: 200, body: { numberExists: true, chatId: CHAT } }

export function outbound(content: Content, extra: Partial<Outbound> = {}): Outbound {
  return { messageId: 'msg_1', to: '5511900000001', content, quotedProviderId: null, targetProviderId: null, ...extra }
}

export const TEXT = outbound({ kind: 'text', text: 'Oi' })
export const patience = () => AbortSignal.timeout(10_000)
export const isCheck = ({ url }: Recorded) => url.startsWith('/api/contacts/check-exists')

export async function connect(
  t: Test,
  react: (request: Recorded) => Reaction,
  options: { timeoutMs: number } = { timeoutMs: 5_000 }
) {
  const server = await startRecordingServer(react)
  const connector = createUnofficialConnector(options)
  t.teardown(async () => {
    await server.close()
    await connector.close()
  })
  const line: UnofficialLine = {
    kind: 'unofficial',
    baseUrl: server.baseUrl,
    apiKey: 'key',
    session: 's1',
    engine: 'noweb'
  }
  return { server, connector, line }
}
