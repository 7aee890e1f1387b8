import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Admitted, admitCaller, admitMessage, isRefused, lateFailure, readMessage } from './acceptance.ts'
import { refuse } from './errors.ts'
import { type Fault, takeEarlyReset, takeFault } from './faults.ts'
import { type JsonObject, textOf } from './json.ts'
import type { Accepted } from './ledger.ts'
import { overLimit } from './limits.ts'
import type { Sim } from './sim.ts'
import type { PhoneNumber } from './state.ts'
import { planStatuses } from './status-plan.ts'
import { type Answer, readBody, reply, success } from './wire.ts'

const MAX_MESSAGE_BYTES = 1024 * 1024

type Exchange = { sim: Sim; request: IncomingMessage; response: ServerResponse }

/** `POST /PNID/messages`: the one hot path. Faults are used up only by sends that would otherwise be accepted. */
export async function handleMessages(
  sim: Sim,
  request: IncomingMessage,
  response: ServerResponse,
  numberId: string,
  query: string
): Promise<void> {
  const { state } = sim
  if (state.faults.length > 0 && takeEarlyReset(state.faults, numberId)) {
    request.socket.destroy()
    return
  }
  const raw = await readBody(request, MAX_MESSAGE_BYTES)
  if (raw === null) {
    request.socket.destroy()
    return
  }
  const inQuery = query === '' ? null : new URLSearchParams(query).get('access_token')
  const caller = admitCaller(state, numberId, request.headers.authorization, inQuery)
  const message = isRefused(caller) ? caller : readMessage(raw)
  if (!isRefused(caller) && !isRefused(message) && message.status === 'read') {
    reply(response, markRead(sim, caller.number, message))
    return
  }
  state.ledger.totals.total++
  if (isRefused(caller)) return reply(response, caller)
  if (isRefused(message)) return reply(response, message)
  const admitted = admitMessage(state, caller.number, message)
  if (isRefused(admitted)) return reply(response, admitted)
  const waId = admitted.to.replace(/\D/g, '')
  const over = overLimit(state, caller.number, waId || (admitted.userId ?? ''), sim.now())
  if (over) return reply(response, over)
  const target = { to: waId, phoneNumberId: numberId, callbackData: admitted.callbackData }
  const fault = takeFault(state.faults, 'answer', target)
  const send = newSend(sim, admitted, fault?.kind === 'wrong_wa_id' ? (fault.waId ?? waId) : waId)
  if (!fault) {
    accept(sim, admitted, send)
    return reply(response, acceptance(send, admitted))
  }
  await misbehave({ sim, request, response }, fault, admitted, send)
}

function markRead(sim: Sim, number: PhoneNumber, message: JsonObject): Answer {
  const { ledger, settings } = sim.state
  const messageId = textOf(message.message_id)
  if (!messageId) return refuse(131008, 'Required parameter is missing: message_id')
  if (!settings.acceptUnknownQuote && !ledger.knows(messageId)) return refuse(131009, 'The message is unknown')
  const typing = message.typing_indicator !== undefined
  ledger.read({ phoneNumberId: number.id, messageId, typing, at: sim.now() })
  return success
}

function newSend(sim: Sim, admitted: Admitted, waId: string): Accepted {
  const { number, type, to, userId, callbackData, template } = admitted
  return {
    wamid: sim.wamids.outbound(waId || number.digits),
    numberId: number.id,
    to,
    waId,
    userId,
    callbackData,
    category: template?.category.toLowerCase() ?? 'service',
    type,
    at: sim.now()
  }
}

/** From here on the platform has the message: it is counted and its statuses will come. */
function accept(sim: Sim, admitted: Admitted, send: Accepted, skip: readonly string[] = []): void {
  const { state } = sim
  const { recordSends, countByCallbackData } = state.settings
  const failure = lateFailure(sim, admitted, send)
  state.ledger.accept(send, admitted.message, { record: recordSends, count: countByCallbackData })
  const target = { to: send.to, phoneNumberId: send.numberId, callbackData: send.callbackData }
  planStatuses(sim, send, { fault: takeFault(state.faults, 'status', target), failure, skip })
}

function acceptance(send: Accepted, { userId, template }: Admitted): Answer {
  const contact =
    userId === undefined
      ? `{"input":${JSON.stringify(send.to)},"wa_id":"${send.waId}"}`
      : `{"input":"${userId}","user_id":"${userId}"}`
  const state = template ? ',"message_status":"accepted"' : ''
  return {
    status: 200,
    body: `{"messaging_product":"whatsapp","contacts":[${contact}],"messages":[{"id":"${send.wamid}"${state}}]}`
  }
}

async function misbehave(exchange: Exchange, fault: Fault, admitted: Admitted, send: Accepted): Promise<void> {
  const { sim, request, response } = exchange
  switch (fault.kind) {
    case 'refuse':
    case 'throttle':
    case 'unauthorized':
      return reply(response, scriptedRefusal(fault))
    case 'server_error':
      if (fault.accept) accept(sim, admitted, send)
      return reply(response, serverError(fault))
    case 'hang':
    case 'timeout_after_accept':
      // The caller's own timeout ends this exchange, or close() does.
      if (fault.accept) accept(sim, admitted, send)
      return
    case 'reset':
      if (fault.accept) accept(sim, admitted, send)
      request.socket.destroy()
      return
    case 'slow':
      accept(sim, admitted, send)
      return answerLater(exchange, fault.ms, acceptance(send, admitted))
    case 'malformed_answer':
      if (fault.accept) accept(sim, admitted, send)
      return reply(response, { status: 200, body: '{"messaging_product":"whatsapp","contacts":[{"inp' })
    case 'status_before_answer': {
      const early = fault.statuses.length > 0 ? fault.statuses : ['sent']
      for (const status of early) {
        await sim.webhooks.together([{ send, status, timestamp: Math.floor(sim.now() / 1000) }])
      }
      accept(sim, admitted, send, early)
      return reply(response, acceptance(send, admitted))
    }
    default:
      accept(sim, admitted, send)
      return reply(response, acceptance(send, admitted))
  }
}

function scriptedRefusal(fault: Fault): Answer {
  const status = fault.httpStatus === undefined ? {} : { status: fault.httpStatus }
  if (fault.kind === 'unauthorized') return refuse(fault.code ?? 190, fault.details, status)
  return refuse(fault.code ?? (fault.kind === 'throttle' ? 130429 : 131009), fault.details ?? '', status)
}

const serverError = ({ httpStatus, withBody, code }: Fault): Answer =>
  withBody
    ? refuse(code ?? 131000, 'Something went wrong.', { status: httpStatus ?? 500 })
    : { status: httpStatus ?? 502, body: '<html><body>Bad Gateway</body></html>', type: 'text/html' }

function answerLater({ sim, response }: Exchange, ms: number, answer: Answer): void {
  const timer = setTimeout(() => {
    sim.held.delete(timer)
    reply(response, answer)
  }, ms)
  sim.held.add(timer)
}
