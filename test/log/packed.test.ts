import fc from 'fast-check'
import t from 'tap'
import { requestOf } from '../../src/log/append-request.ts'
import { packAnswer, packRequest, unpackAnswer, unpackRequest } from '../../src/log/sqlite/packed.ts'
import type { Answer } from '../../src/log/sqlite/protocol.ts'

const text = fc.string({ unit: 'binary', maxLength: 30 })
const event = fc.record({ id: text, type: text, body: text, meta: text })
const need = fc.record({ stream: fc.string(), eventId: text, isBulk: fc.boolean() })
const options = fc.record({ need: fc.option(need, { nil: undefined }), isBulk: fc.boolean() })
const request = fc
  .tuple(text, fc.integer({ min: -1 }), fc.array(event, { maxLength: 5 }), options)
  .map(([stream, expected, events, given]) => requestOf(stream, expected, events, given))

const number = fc.nat()
const first = fc.record({ streamNo: number, hash: text })
const appended = fc.record(
  { kind: fc.constant('appended' as const), position: number, revision: number, repeated: fc.boolean(), first },
  { requiredKeys: ['kind', 'position', 'revision', 'repeated'] }
)
const answer: fc.Arbitrary<Answer> = fc.oneof(
  appended,
  fc.record({ kind: fc.constant('conflict' as const), revision: fc.integer({ min: -1 }) }),
  fc.constant({ kind: 'deleted' as const }),
  fc.record({ kind: fc.constantFrom('invalid' as const, 'unavailable' as const), reason: text })
)

t.test('what one thread packs, the other unpacks', async t => {
  fc.assert(
    fc.property(request, one => {
      t.strictSame(structuredClone(unpackRequest(structuredClone(packRequest(one)))), structuredClone(one))
    }),
    { numRuns: 200 }
  )
  fc.assert(
    fc.property(answer, one => {
      t.strictSame(unpackAnswer(structuredClone(packAnswer(one))), structuredClone(one))
    }),
    { numRuns: 200 }
  )
})
