import t from 'tap'
import { signatureHeader } from '../../src/connectors/webhook/signature.ts'
import { place } from './command-line.ts'

const WAITING = /Waiting for webhooks on (http:\S+)/
const here = place(t)
const secret = 'whsec_test'
const body = JSON.stringify({ id: 'evt_1', type: 'message.status', data: { status: 'read', note: 'bell \u0007' } })

t.test('each webhook is printed as it comes, verified or not', async t => {
  const receiver = await here.start(['receive', '--port', '0', '--secret', secret], WAITING)
  const [, url = ''] = await receiver.says(WAITING)
  const post = async (headers: Record<string, string>, text = body): Promise<number> => {
    const { status } = await fetch(`${url}/hooks?x=1`, { method: 'POST', headers, body: text })
    return status
  }
  const now = Math.floor(Date.now() / 1000)
  t.equal(await post({ 'x-service-signature': signatureHeader(Buffer.from(body), [secret], now) }), 204)
  await receiver.says(/message\.status {2}verified {2}POST "\/hooks\?x=1" {2}answered 204\n\{\n {2}"id": "evt_1"/)
  t.equal(await post({ 'x-service-signature': signatureHeader(Buffer.from(body), ['other'], now) }), 401)
  await receiver.says(/message\.status {2}NOT VERIFIED \(invalid_signature\) .* answered 401\n/)
  t.equal(await post({}), 401)
  await receiver.says(/NOT VERIFIED \(missing_signature\)/)
  t.notMatch(receiver.said(), '\u0007')
  t.match(await receiver.stop(), { code: 0 })
})

t.test('the secret may come from the environment, and a taken port is an error', async t => {
  const receiver = await here.start(['receive', '--port', '0'], /signatures are checked/, { WEBHOOK_SECRET: secret })
  const [, port = ''] = await receiver.says(/:(\d+) /)
  t.match(await here.run('receive', '--port', port), { code: 1, stderr: /^ledgerline: cannot listen on 127\.0\.0\.1:/ })
})
