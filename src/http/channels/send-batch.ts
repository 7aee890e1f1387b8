import { callerOf, may } from '../access.ts'
import { answer } from '../answer.ts'
import type { App } from '../app-types.ts'
import { ITEM_CODES } from '../batch-work.ts'
import { takeJsonBytes } from '../body.ts'
import { RequestRefused } from '../errors.ts'
import type { ServiceDoors } from '../ports.ts'
import { batchBody, batchResults } from '../schemas/batch.ts'
import { bodyFailures } from '../schemas/failure.ts'
import { refParams } from '../schemas/params.ts'

/**
 * `POST /v1/channels/:ref/messages/batch`: 202 once the last item is on record or refused. The body goes on as it came,
 * and so does the answer: whoever works on it must not be in the way of single sends.
 */
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
    takeJsonBytes(scope, bodyLimit)
    // The schemas are for the document.
    const validatorCompiler = () => (value: unknown) => ({ value })
    const options = { onRequest: may('messages:send'), schema, validatorCompiler }
    scope.post('/v1/channels/:ref/messages/batch', options, async (request, reply) => {
      const body: unknown = request.body
      if (!Buffer.isBuffer(body)) throw new RequestRefused('malformed_json')
      const result = await messages.sendBatch(callerOf(request), request.params.ref, body)
      reply.type('application/json; charset=utf-8')
      return answer(reply, result, 202, bytes => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    })
  })
}
