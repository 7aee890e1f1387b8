import { type Exchange, INVALID_HEADER } from '../official/exchange.ts'
import { type Loose, parseObject, textOf } from '../official/loose-json.ts'
import type { CallResult, SessionView, UnofficialConnector, UnofficialLine } from '../port.ts'
import { INVALID_ADDRESS, type InstanceAddress, type Instances } from './instances.ts'
import { sessionBodyOf } from './session-config.ts'
import { engineOf, sessionViewOf } from './session-view.ts'

type Sessions = Pick<UnofficialConnector, 'probe' | 'start' | 'restart' | 'look' | 'qr' | 'stop' | 'erase'>
type Method = 'GET' | 'POST' | 'DELETE'
type Answer = { readonly status: number; readonly body: Loose }

const MISSING: SessionView = { status: 'missing', number: null, restriction: null }
const DONE: CallResult<null> = { kind: 'ok', value: null }

/**
 * The life of sessions on an instance (`provider-unofficial`, 1 and 2).
 * Refusals: `credentials_rejected` for the key or address, else `provider_rejected`.
 */
export function createSessions(instances: Instances, timeoutMs: number): Sessions {
  async function ask(address: InstanceAddress, method: Method, path: string, body: string | null = null) {
    const signal = AbortSignal.timeout(timeoutMs)
    return resultOf(await instances.call(address, { method, path, body, signal }))
  }

  /** A plain command on a session, with the statuses that count as done besides 2xx. */
  async function command(
    line: UnofficialLine,
    method: Method,
    path: string,
    alsoDone: number
  ): Promise<CallResult<null>> {
    const answer = await ask(line, method, path)
    if (answer.kind !== 'ok') return answer
    return succeeded(answer.value) || answer.value.status === alsoDone ? DONE : refusalOf(answer.value)
  }

  return {
    async probe(address) {
      const answer = await ask(address, 'GET', '/api/server/version')
      if (answer.kind !== 'ok') return answer
      if (!succeeded(answer.value)) return refusalOf(answer.value)
      const { engine: name, version } = answer.value.body
      const engine = engineOf(name)
      if (engine === null) return { kind: 'refused', code: 'provider_rejected', detail: 'unknown engine' }
      return { kind: 'ok', value: { engine, version: textOf(version) ?? 'unknown' } }
    },

    async start(line, setup) {
      const created = await ask(line, 'POST', '/api/sessions', sessionBodyOf(line, setup))
      if (created.kind !== 'ok') return created
      if (created.value.status !== EXISTS) return startedViewOf(created.value)
      const started = await ask(line, 'POST', `${sessionPath(line)}/start`)
      return started.kind === 'ok' ? startedViewOf(started.value) : started
    },

    restart: line => command(line, 'POST', `${sessionPath(line)}/restart`, 200),

    async look(line) {
      const answer = await ask(line, 'GET', sessionPath(line))
      if (answer.kind !== 'ok') return answer
      if (answer.value.status === 404) return { kind: 'ok', value: MISSING }
      if (!succeeded(answer.value)) return refusalOf(answer.value)
      const view = sessionViewOf(answer.value.body)
      return view === null ? { kind: 'unavailable', detail: 'unknown session status' } : { kind: 'ok', value: view }
    },

    async qr(line) {
      const answer = await ask(line, 'GET', `/api/${encodeURIComponent(line.session)}/auth/qr?format=raw`)
      if (answer.kind !== 'ok') return answer
      // The session is in a status without a QR, or not there to have one.
      if (answer.value.status === 422 || answer.value.status === 404) return { kind: 'ok', value: null }
      if (!succeeded(answer.value)) return refusalOf(answer.value)
      return { kind: 'ok', value: textOf(answer.value.body.value) }
    },

    stop: line => command(line, 'POST', `${sessionPath(line)}/stop`, 404),

    // Deleting stops and logs out too; a logout of its own would begin another QR sequence.
    erase: line => command(line, 'DELETE', sessionPath(line), 404)
  }
}

/** Answer to the creation of a session whose name is taken. */
const EXISTS = 422

function sessionPath(line: UnofficialLine): string {
  return `/api/sessions/${encodeURIComponent(line.session)}`
}

function succeeded(answer: Answer): boolean {
  return answer.status >= 200 && answer.status <= 299
}

/** A start's answer may come before the session has a status of its own. */
function startedViewOf(answer: Answer): CallResult<SessionView> {
  if (!succeeded(answer)) return refusalOf(answer)
  return { kind: 'ok', value: sessionViewOf(answer.body) ?? { status: 'starting', number: null, restriction: null } }
}

function resultOf(exchange: Exchange): CallResult<Answer> {
  if (exchange.kind === 'answered') {
    return { kind: 'ok', value: { status: exchange.status, body: parseObject(exchange.body) ?? {} } }
  }
  if (exchange.reason === INVALID_HEADER || exchange.reason === INVALID_ADDRESS) {
    return { kind: 'refused', code: 'credentials_rejected', detail: exchange.reason }
  }
  return { kind: 'unavailable', detail: exchange.reason }
}

function refusalOf(answer: Answer): CallResult<never> {
  const detail = `http ${answer.status}`
  if (answer.status === 401 || answer.status === 403) return { kind: 'refused', code: 'credentials_rejected', detail }
  if (answer.status === 429 || answer.status >= 500 || answer.status < 400) return { kind: 'unavailable', detail }
  return { kind: 'refused', code: 'provider_rejected', detail }
}
