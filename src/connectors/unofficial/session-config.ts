import type { Engine, SessionSetup, UnofficialLine } from '../port.ts'

/** `message.any` carries what `message` does and our own sends besides, so the latter would only double it. */
const EVENTS = ['session.status', 'message.any', 'message.ack', 'message.reaction', 'message.revoked', 'message.edited']

/** 2, 4, 8 … seconds: fifteen of them outlast an outage of hours. */
const RETRIES = { policy: 'exponential', delaySeconds: 2, attempts: 15 }

/** Body of `POST /api/sessions` (`provider-unofficial`, 2), as JSON text. */
export function sessionBodyOf(line: UnofficialLine, setup: SessionSetup): string {
  return JSON.stringify({
    name: line.session,
    start: true,
    config: {
      metadata: { ref: setup.reference },
      webhooks: [{ url: setup.callbackUrl, events: EVENTS, hmac: { key: setup.callbackKey }, retries: RETRIES }],
      ignore: { status: true, groups: true, channels: true, broadcast: true },
      client: { deviceName: 'Ledgerline', browserName: 'Chrome' },
      ...ENGINE_CONFIG[line.engine]
    }
  })
}

/** What each engine needs for quotes, hidden ids and acknowledgements, set before the first login. */
const ENGINE_CONFIG: { readonly [engine in Engine]: object } = {
  noweb: { noweb: { markOnline: true, store: { enabled: true, fullSync: false } } },
  gows: { gows: { storage: { messages: true, groups: false, chats: true, labels: false } } },
  webjs: { webjs: { tagsEventsOn: true } }
}
