import { reasonOf, typeOf } from './errors.ts'

export type StartProblem = 'settings' | 'unreachable' | 'credentials' | 'certificate'

/** EventStoreDB cannot be used as it is configured: one sentence for the operator, without secrets. */
export class EventStoreStartError extends Error {
  override readonly name = 'EventStoreStartError'
  readonly problem: StartProblem

  constructor(problem: StartProblem, message: string, cause?: unknown) {
    super(message, { cause })
    this.problem = problem
  }
}

const CERTIFICATE = /certificate|CERT_|SSL|TLS|self[- ]signed|altnames|UNABLE_TO|wrong version number/i

/** Hosts of a connection string, without credentials and options. */
export function hostsOf(url: string): string {
  return url
    .replace(/^[^:]+:\/\//, '')
    .replace(/^[^/?]*@/, '')
    .replace(/[/?].*$/s, '')
}

/** Why the connection string itself cannot be used. */
export function settingsError(error: unknown): EventStoreStartError {
  const text = error instanceof Error ? error.message : ''
  if (/certificate/i.test(text))
    return new EventStoreStartError('certificate', 'a certificate or key file named in EVENTSTORE_URL cannot be read')
  return new EventStoreStartError(
    'settings',
    'EVENTSTORE_URL is not a connection string of the form esdb://user:password@host:2113?tls=true'
  )
}

/** Why the first call to the server failed. */
export function startError(error: unknown, url: string): EventStoreStartError {
  const hosts = hostsOf(url)
  if (typeOf(error) === 'access-denied')
    return new EventStoreStartError('credentials', `EventStoreDB at ${hosts} refuses the credentials of EVENTSTORE_URL`)
  if (error instanceof Error && CERTIFICATE.test(error.message))
    return new EventStoreStartError(
      'certificate',
      `EventStoreDB at ${hosts} shows a certificate that is not trusted: set tlsCAFile in EVENTSTORE_URL`,
      error
    )
  return new EventStoreStartError('unreachable', `EventStoreDB at ${hosts} cannot be reached (${reasonOf(error)})`)
}
