/** What every connector offers. Connectors answer with values and never reject: a broken socket is `unknown`. */

export type ProviderKind = 'official' | 'unofficial'
export type Engine = 'webjs' | 'noweb' | 'gows'

/** Message content as the API takes it (`channel-service`, Message content). */
export type Content =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'media'
      readonly media: 'image' | 'video' | 'audio' | 'document'
      readonly url: string
      readonly filename?: string
      readonly caption?: string
    }
  | {
      readonly kind: 'template'
      readonly name: string
      readonly language: string
      readonly bodyParams?: readonly string[]
      readonly headerText?: string
      readonly headerMediaUrl?: string
      readonly buttonParams?: readonly string[]
    }
  | { readonly kind: 'interactive'; readonly interactive: Interactive }
  | { readonly kind: 'reaction'; readonly targetMessageId: string; readonly emoji: string }

export type Interactive =
  | { readonly type: 'buttons'; readonly body: string; readonly buttons: readonly { id: string; title: string }[] }
  | {
      readonly type: 'list'
      readonly body: string
      readonly buttonLabel: string
      readonly sections: readonly {
        readonly title?: string
        readonly rows: readonly { readonly id: string; readonly title: string; readonly description?: string }[]
      }[]
    }

/** A send, ready to leave: everything resolved, nothing to look up. */
export type Outbound = {
  /** Our `msg_…`: travels as the provider's callback data where the provider has such a thing. */
  readonly messageId: string
  /** Digits without +, or the platform's user id (`BR.…`). */
  readonly to: string
  readonly content: Content
  /** Provider id of the message that this one quotes; null sends without a quote. */
  readonly quotedProviderId: string | null
  /** The quoted message left this number (unofficial ids say whose message they name). Default: the contact wrote it. */
  readonly quotedOwn?: boolean
  /** Provider id of a reaction's target. */
  readonly targetProviderId: string | null
}

/** How to reach an official number. */
export type OfficialLine = {
  readonly kind: 'official'
  readonly phoneNumberId: string
  readonly wabaId: string
  readonly accessToken: string
}
/** How to reach an unofficial number's session. */
export type UnofficialLine = {
  readonly kind: 'unofficial'
  readonly baseUrl: string
  readonly apiKey: string | null
  readonly session: string
  readonly engine: Engine
}

/**
 * The outcome of one send.
 * - `sent`: the provider took it and said its id (null: accepted, id unknown). `address`: the form in which the provider knows the recipient.
 * - `refused`: proven not accepted, terminal. `code` is ours.
 * - `retry`: proven not accepted, transient. `scope` `recipient` slows this recipient only, `channel` the whole number.
 * - `channel_trouble`: the number, not the message, is the problem (credentials refused, session not working): burns no attempt.
 * - `unknown`: the request may have reached the provider; only a later report can tell.
 */
export type SendAnswer =
  | { readonly kind: 'sent'; readonly providerId: string; readonly address: string | null }
  | {
      readonly kind: 'refused'
      readonly code: string
      readonly providerCode: string | null
      readonly detail: string | null
    }
  | {
      readonly kind: 'retry'
      readonly code: string
      readonly providerCode: string | null
      readonly afterMs: number | null
      readonly scope: 'message' | 'recipient' | 'channel'
      readonly detail: string | null
    }
  | {
      readonly kind: 'channel_trouble'
      readonly code: 'credentials_rejected' | 'session_not_working' | 'instance_rejected' | 'number_not_registered'
      readonly detail: string | null
    }
  | {
      readonly kind: 'unknown'
      readonly code: 'timeout' | 'connection_lost' | 'server_error' | 'no_message_id'
      readonly detail: string | null
    }

/** A provider's news, in our words. One callback body becomes a list of these, in the body's order. */
export type Update =
  | {
      readonly kind: 'status'
      /** Provider id as it is matched: the bare id for unofficial numbers. */
      readonly providerId: string
      /** Our message id from the callback data, when the provider echoes it. */
      readonly messageId: string | null
      readonly status: 'sent' | 'delivered' | 'read' | 'failed'
      /** Our error code, only with `failed`. */
      readonly code: string | null
      /** The same if the message was a reaction, where that makes a difference. */
      readonly reactionCode: string | null
      readonly providerCode: string | null
      /** End of a platform restriction on new contacts that this failure reveals. */
      readonly restriction: { readonly until: string | null } | null
      readonly providerAt: string | null
      /** The recipient as the provider names it, when it does. */
      readonly address: string | null
      /** The other identity of the recipient, when the body names both. */
      readonly alias: string | null
    }
  | {
      /** An echo of a message that left this number (unofficial `message.any` with `fromMe`). `api`: sent through us. */
      readonly kind: 'echo'
      readonly providerId: string
      readonly api: boolean
      readonly address: string
      readonly text: string | null
      readonly providerAt: string | null
    }
  | {
      readonly kind: 'inbound'
      readonly providerId: string
      readonly from: string
      /** The other identity of the sender, when the body names both. */
      readonly alias: string | null
      readonly profileName: string | null
      readonly quotedProviderId: string | null
      readonly message: InboundMessage
      readonly providerAt: string | null
    }
  | {
      readonly kind: 'session'
      readonly status: SessionStatus
      /** The account's number in digits, when the session is logged in. */
      readonly number: string | null
      readonly restriction: { readonly active: boolean; readonly until: string | null } | null
    }
  | { readonly kind: 'restriction'; readonly until: string | null; readonly code: string }
  | { readonly kind: 'template'; readonly name: string; readonly language: string; readonly status: string }
  | {
      readonly kind: 'opt_out'
      readonly address: string
      readonly optedOut: boolean
      readonly providerAt: string | null
    }
  /** Known to exist, of no use to us: counted, never an error. */
  | { readonly kind: 'ignored'; readonly reason: string }

export type InboundMessage =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'media'
      readonly media: 'image' | 'video' | 'audio' | 'document'
      readonly mediaId: string
      readonly mimeType: string
      readonly filename: string | null
      readonly fileSize: number | null
      readonly caption?: string
      readonly sticker?: true
      /** Where the bytes are fetched (unofficial: path on the instance). Never leaves the service. */
      readonly path: string | null
    }
  | {
      readonly kind: 'interactive_reply'
      readonly replyType: 'button' | 'list' | 'flow'
      readonly id: string
      readonly title: string
      readonly description?: string
      readonly data?: unknown
    }
  | { readonly kind: 'reaction'; readonly targetProviderId: string; readonly emoji: string }
  | { readonly kind: 'unsupported'; readonly originalType: string }

export type SessionStatus = 'starting' | 'scan_qr' | 'working' | 'stopped' | 'failed' | 'passkey_required' | 'missing'

/** A call that is not a send. `refused`: the provider said no (`code` is ours). `unavailable`: it did not answer. */
export type CallResult<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string | null }
  | { readonly kind: 'unavailable'; readonly detail: string | null }

export type VerifiedNumber = {
  /** Digits of the number. */
  readonly number: string
  readonly verifiedName: string | null
  readonly platformType: string | null
}

export type OfficialConnector = {
  /** `signal` aborts a send that outlives PROVIDER_TIMEOUT_SECONDS; past the written body that is `unknown`. */
  send(line: OfficialLine, message: Outbound, signal: AbortSignal): Promise<SendAnswer>
  /** Token sees the number, and the WABA owns it. */
  verify(line: OfficialLine): Promise<CallResult<VerifiedNumber>>
  /** Subscribes the token's app to the WABA's webhooks. Harmless when repeated. */
  subscribe(line: OfficialLine): Promise<CallResult<null>>
  /** The templates of the line's business account. */
  templates(line: OfficialLine): Promise<CallResult<readonly OfficialTemplate[]>>
  close(): Promise<void>
}

export type OfficialTemplate = {
  readonly name: string
  /** With underscore: `pt_BR`. */
  readonly language: string
  /** As in `template.updated`. */
  readonly status: string
  readonly category: string | null
  readonly body: string | null
  readonly header: string | null
  readonly footer: string | null
}

export type SessionSetup = {
  /** Where the instance posts its events. */
  readonly callbackUrl: string
  readonly callbackKey: string
  readonly reference: string
}

export type SessionView = {
  readonly status: SessionStatus
  readonly number: string | null
  readonly restriction: { readonly active: boolean; readonly until: string | null } | null
}

export type UnofficialConnector = {
  send(line: UnofficialLine, message: Outbound, signal: AbortSignal): Promise<SendAnswer>
  /** What answers at this address: proves address and key, tells the engine. */
  probe(line: Pick<UnofficialLine, 'baseUrl' | 'apiKey'>): Promise<CallResult<{ engine: Engine; version: string }>>
  /** Creates and starts the session; repeated on an existing one it starts it. */
  start(line: UnofficialLine, setup: SessionSetup): Promise<CallResult<SessionView>>
  restart(line: UnofficialLine): Promise<CallResult<null>>
  look(line: UnofficialLine): Promise<CallResult<SessionView>>
  /** The raw QR payload, null when none is offered now. */
  qr(line: UnofficialLine): Promise<CallResult<string | null>>
  /** Digits of the number behind a hidden id (`<digits>@lid`), null when the session cannot tell. Soon over, and kept in mind. */
  phoneOf(line: UnofficialLine, hiddenId: string): Promise<string | null>
  /** Stops the session, keeps the login. */
  stop(line: UnofficialLine): Promise<CallResult<null>>
  /** Stops, logs out and forgets the session. Idempotent. */
  erase(line: UnofficialLine): Promise<CallResult<null>>
  close(): Promise<void>
}

/** Reads the callbacks of the official platform: pure. */
export type OfficialCallbacks = {
  /** `X-Hub-Signature-256` over the raw body. */
  verify(secret: string, rawBody: Buffer, header: string | undefined): boolean
  /** One element a change, in order. Never throws: what cannot be read becomes `ignored`. */
  parse(body: unknown): readonly OfficialChange[]
}
/** The news of one change. Account-level changes name no number: then the business account says whose they are. */
export type OfficialChange = {
  readonly phoneNumberId: string | null
  readonly wabaId: string | null
  readonly updates: readonly Update[]
}

/** Reads the callbacks of unofficial instances: pure. */
export type UnofficialCallbacks = {
  verify(key: string, rawBody: Buffer, hmac: string | undefined, algorithm: string | undefined): boolean
  parse(body: unknown): {
    readonly session: string | null
    readonly eventId: string | null
    readonly updates: readonly Update[]
  }
}
