/** Every code that an answer may carry, with its status and its words (decisions §2). One table, so that nobody invents others. */
export const ERRORS = {
  malformed_json: [400, 'The body is not JSON text in UTF-8.'],
  bad_request: [400, 'The request is not valid HTTP.'],
  unauthorized: [401, 'The API key is missing, unknown, revoked or expired.'],
  forbidden: [403, 'Not allowed.'],
  invalid_signature: [403, 'The signature does not match the body.'],
  resource_not_found: [404, 'No such resource.'],
  channel_not_found: [404, 'No such channel.'],
  route_not_found: [404, 'No such route.'],
  request_timeout: [408, 'The request took too long to arrive.'],
  conflict: [409, 'Someone else changed it at the same time. Try again.'],
  channel_limited: [409, 'The channel is limited after a burst of delivery failures. Release it to send again.'],
  channel_quarantined: [409, 'The channel is in quarantine after its first connection.'],
  channel_restricted: [409, 'The platform bars this channel from writing to new contacts for now.'],
  attempt_not_cancellable: [409, 'The attempt has become a channel already.'],
  waba_number_unavailable: [409, 'The number belongs to another channel.'],
  webhook_endpoint_limit: [409, 'A workspace has at most five destinations.'],
  webhook_endpoint_url_taken: [409, 'A destination with this URL exists already.'],
  payload_too_large: [413, 'The body is larger than this route takes.'],
  unsupported_media_type: [415, 'The body must be application/json, without a content encoding.'],
  range_not_satisfiable: [416, 'The range begins behind the end of the file.'],
  validation_failed: [422, 'The request has fields that are missing, unknown or not valid.'],
  outbound_address_blocked: [422, 'The address may not be called by this service.'],
  credentials_rejected: [422, 'The platform refuses these credentials.'],
  risk_acceptance_required: [422, 'The current terms of risk must be accepted first.'],
  unsupported_capability: [422, 'This kind of channel cannot do that.'],
  rate_limited: [429, 'Too many requests with this API key.'],
  headers_too_large: [431, 'The header fields are too large.'],
  internal_error: [500, 'Something broke on our side.'],
  provider_unavailable: [502, 'The messaging platform does not answer.'],
  overloaded: [503, 'The service takes no more work at the moment.'],
  not_ready: [503, 'The service is not ready.'],
  channel_disconnected: [503, 'The channel is disconnected.'],
  no_unofficial_instance_available: [503, 'No instance has room for another number.']
} as const satisfies Record<string, readonly [status: number, message: string]>

export type ErrorCode = keyof typeof ERRORS
export type Detail = { readonly path: string; readonly message: string }

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code)

export const statusOf = (code: ErrorCode): number => ERRORS[code][0]

export type ErrorBody = {
  readonly error: {
    readonly code: ErrorCode
    readonly message: string
    readonly traceId: string
    readonly details?: readonly Detail[]
  }
}

export function errorBody(code: ErrorCode, traceId: string, details?: readonly Detail[]): ErrorBody {
  const message = ERRORS[code][1]
  return { error: details === undefined ? { code, message, traceId } : { code, message, traceId, details } }
}

/** Thrown where a hook or a parser ends a request: the error handler turns it into an answer. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
  readonly code: ErrorCode
  readonly details: readonly Detail[] | undefined

  constructor(code: ErrorCode, details?: readonly Detail[]) {
    super(code)
    this.code = code
    this.details = details
  }
}
