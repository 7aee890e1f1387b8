import type { Outbound, SendAnswer, UnofficialConnector, UnofficialLine } from '../port.ts'
import { createHiddenIds } from './hidden-ids.ts'
import { fullMessageId } from './identifiers.ts'
import { createInstances } from './instances.ts'
import { createRecipients } from './recipients.ts'
import { mayBlameQuote, sendAnswerOf } from './send-answer.ts'
import { sendRequestOf } from './send-request.ts'
import { createSessions } from './sessions.ts'

/**
 * The connector to session servers (`provider-unofficial`). `timeoutMs` limits each call;
 * a send, its check of the recipient included, is also ended by its own signal. No method rejects.
 */
export function createUnofficialConnector(options: { timeoutMs: number }): UnofficialConnector {
  const instances = createInstances(options.timeoutMs)
  const recipients = createRecipients(instances)
  const hiddenIds = createHiddenIds(instances)
  const sessions = createSessions(instances, options.timeoutMs)

  async function send(line: UnofficialLine, message: Outbound, signal: AbortSignal): Promise<SendAnswer> {
    const { content } = message
    // Asked before the recipient is looked up: content that cannot leave is no reason for a check.
    if (content.kind === 'template') return refused('template_call_invalid')
    if (content.kind === 'reaction') return refused('unsupported_capability')
    const recipient = await recipients.find(line, message.to, signal)
    if ('refusal' in recipient) return recipient.refusal
    const { chatId } = recipient
    const { quotedProviderId: quoted, quotedOwn = false } = message
    const replyTo = quoted === null ? null : fullMessageId(quoted, quotedOwn, chatId)

    const post = (quote: string | null) => {
      const { path, body } = sendRequestOf(line.session, chatId, content, quote)
      return instances.call(line, { method: 'POST', path, body, signal })
    }
    const first = await post(replyTo)
    const exchange = replyTo !== null && mayBlameQuote(first) ? await post(null) : first
    return sendAnswerOf(exchange, message.to, chatId)
  }

  return { send, ...sessions, phoneOf: hiddenIds.phoneOf, close: () => instances.close() }
}

function refused(code: string): SendAnswer {
  return { kind: 'refused', code, providerCode: null, detail: null }
}
