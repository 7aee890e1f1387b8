import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { hmac } from '../../src/log/hmac.ts'

const key = fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes))
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.string({ unit: 'grapheme', minLength: 300, maxLength: 500 })
)

t.test('it is what the library makes of the same key and text, whatever came before', async t => {
  const expected = (one: Buffer, words: string) => createHmac('sha256', one).update(words).digest('hex')
  fc.assert(
    fc.property(fc.array(fc.tuple(key, text), { minLength: 1, maxLength: 5 }), pairs => {
      for (const [one, words] of pairs)
        for (let again = 0; again < 2; again++)
          if (hmac(one, words).toString('hex') !== expected(one, words)) return false
      return true
    }),
    { numRuns: 500 }
  )
  t.pass('all the same')
})

t.test('RFC 4231, cases 1 and 2', async t => {
  const hex = (one: Buffer, words: string) => hmac(one, words).toString('hex')
  t.match(hex(Buffer.alloc(20, 0x0b), 'Hi There'), /^b0344c61d8db38535ca8afceaf0bf12b/)
  t.match(hex(Buffer.from('Jefe'), 'what do ya want for nothing?'), /^5bdcc146bf60754e6a042426089575c7/)
})
