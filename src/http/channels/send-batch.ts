import { isId } from '../../domain/ids.ts'
import { callerOf, may } from '../access.ts'
import { answer, refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import { checkBatch } from '../batch-body.ts'
import { takeUnsearchedJson } from '../body.ts'
import { type ErrorCode, isErrorCode } from '../errors.ts'
import type { Accepted, Result, ServiceDoors } from '../ports.ts'
import { isPhone } from '../schemas/address.ts'
import { type BatchItem, batchBody, batchResults } from '../schemas/batch.ts'
import { bodyFailures } from '../schemas/failure.ts'
import { refParams } from '../schemas/params.ts'

/** Refusals of a single item stand in its place; those are all that one can meet at admission. */
const ITEM_CODES = [
  'channel_limited',
  'channel_quarantined',
  'channel_restricted',
  'channel_disconnected',
  'unsupported_capability',
  'outbound_address_blocked',
  'conflict',
  'overloaded',
  'internal_error'
] as const satisfies readonly ErrorCode[]

/** `POST /v1/channels/:ref/messages/batch`: 202 once the last item is on record or refused. */
export function sendBatch(app: App, { messages }: ServiceDoors, bodyLimit: number): void {
  const schema = {
    tags: ['Messages'],
    summary: 'Send a list of independent messages',
    description:
      'Shape is all or nothing: the first malformed item refuses the whole batch. After that each item has its own ' +
      `outcome; the codes in \`results[].error\` are ${ITEM_CODES.map(code => `\`${code}\``).join(', ')}.`,
    params: refParams,
    body: batchBody,
    response: { 202: batchResults, ...bodyFailures('channel_not_found') }
  }
  app.register(async (scope: App) => {
    takeUnsearchedJson(scope, bodyLimit)
    // The schema is for the document; the body is checked in slices instead.
    const validatorCompiler = () => (value: unknown) => ({ value })
    const options = { onRequest: may('messages:send'), schema, validatorCompiler }
    scope.post('/v1/channels/:ref/messages/batch', options, async (request, reply) => {
      const items = await checkBatch(request.body, messages.nextSlice)
      const { ref } = request.params
      if (!isId('ch', ref) && !isPhone(ref)) return refuse(reply, 'channel_not_found')
      const result = await messages.sendMany(callerOf(request), ref, items)
      return answer(reply, result, 202, outcomes => ({ results: outcomes.map((one, at) => show(one, items[at], at)) }))
    })
  })
}

function show(outcome: Result<Accepted>, item: BatchItem | undefined, index: number) {
  const idempotencyKey = item?.idempotencyKey
  if (outcome.ok) return { idempotencyKey, index, messageId: outcome.value.messageId, status: 'accepted' }
  // A code outside the table is a defect, yet the other items of the batch are on record by now.
  return { idempotencyKey, index, error: { code: isErrorCode(outcome.code) ? outcome.code : 'internal_error' } }
}
