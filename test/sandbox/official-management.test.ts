import { createHash } from 'node:crypto'
import t from 'tap'
import { eventually, PNID, SECRET, startWorld, TOKEN, text, WABA } from './official-world.ts'

type World = Awaited<ReturnType<typeof startWorld>>
const APP = '700000000000001'

function upload(world: World, bytes: Buffer, mimeType: string) {
  const head = (name: string) => `--cut\r\nContent-Disposition: form-data; name="${name}"`
  const body = Buffer.concat([
    Buffer.from(`${head('messaging_product')}\r\n\r\nwhatsapp\r\n`),
    Buffer.from(`${head('file')}; filename="f"\r\nContent-Type: ${mimeType}\r\n\r\n`),
    bytes,
    Buffer.from('\r\n--cut--\r\n')
  ])
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'multipart/form-data; boundary=cut' }
  return world.graph('POST', `${PNID}/media`, body, headers)
}

t.test('media goes up, is looked up, comes down and is deleted', async t => {
  const world = await startWorld(t)
  const bytes = Buffer.from([0, 13, 10, 45, 45, 255, 13, 10])
  const { body: stored } = await upload(world, bytes, 'image/png')
  const found = (await world.graph('GET', `${stored.id}?phone_number_id=${PNID}`)).body
  t.match(found, { mime_type: 'image/png', file_size: 8, sha256: createHash('sha256').update(bytes).digest('hex') })
  const file = await fetch(found.url, { headers: { authorization: `Bearer ${TOKEN}` } })
  t.same(Buffer.from(await file.arrayBuffer()), bytes)
  t.equal((await fetch(found.url)).status, 401, 'the URL alone is not enough')
  t.equal((await world.send({ type: 'image', image: { id: stored.id } })).status, 200)
  await world.send({ type: 'video', video: { id: stored.id }, biz_opaque_callback_data: 'mismatch' })
  await eventually(() => world.statuses('mismatch')[0]?.errors?.[0].code === 131053)
  await world.control('POST', 'settings', { mediaUrlTtlMs: 0 })
  const expired = (await world.graph('GET', stored.id)).body.url
  t.equal((await world.call('GET', expired, undefined, { authorization: `Bearer ${TOKEN}` })).status, 404)
  t.same((await world.graph('DELETE', stored.id)).body, { success: true })
  t.match((await world.graph('GET', stored.id)).body, { error: { code: 100, error_subcode: 33 } })
  t.match((await upload(world, bytes, 'application/zip')).body, { error: { code: 100, message: /following types/ } })
  t.match((await upload(world, Buffer.alloc(6e5), 'image/webp')).body, { error: { code: 100 } })
})

t.test('numbers are read, listed in pages, registered and verified', async t => {
  const world = await startWorld(t)
  t.match((await world.graph('GET', `${PNID}?fields=status,display_phone_number`)).body, {
    id: PNID,
    status: 'CONNECTED',
    display_phone_number: '+55 11 90000-0000'
  })
  t.match((await world.graph('GET', `${PNID}?fields=nonsense`)).body, { error: { code: 100 } })
  await world.control('POST', 'numbers', {
    wabaId: WABA,
    id: '7',
    displayNumber: '+1 555',
    registered: false,
    verified: false
  })
  const first = (await world.graph('GET', `${WABA}/phone_numbers?limit=1`)).body
  t.same(
    first.data.map((number: { id: string }) => number.id),
    ['7'],
    'newest first'
  )
  const second = (await world.call('GET', first.paging.next, undefined, { authorization: `Bearer ${TOKEN}` })).body
  t.same([second.data[0].id, second.paging.next], [PNID, undefined])
  const register = async (pin: string) =>
    (await world.graph('POST', '7/register', { messaging_product: 'whatsapp', pin })).body.error?.code
  t.equal(await register('12'), 100)
  t.equal(await register('123456'), 133006)
  await world.graph('POST', '7/request_code?code_method=SMS&language=en_US')
  t.equal((await world.graph('POST', '7/verify_code?code=111111')).status, 400)
  t.equal((await world.graph('POST', '7/verify_code?code=000000')).status, 200)
  t.equal(await register('123456'), undefined)
  t.equal(await register('654321'), 133005)
  t.equal((await world.graph('POST', '7/deregister')).status, 200)
  for (let n = 0; n < 7; n++) await register('123456')
  t.equal(await register('123456'), 133016)
})

t.test('the profile takes a picture by resumable upload', async t => {
  const world = await startWorld(t)
  const open = await world.graph('POST', `${APP}/uploads?file_name=p.jpg&file_length=4&file_type=image/jpeg`)
  const path = open.body.id
  const headers = (scheme: string, offset: number) => ({
    authorization: `${scheme} ${TOKEN}`,
    file_offset: String(offset)
  })
  t.equal((await world.graph('POST', path, Buffer.from('ab'), headers('Bearer', 0))).status, 401)
  await world.graph('POST', path, Buffer.from('ab'), headers('OAuth', 0))
  t.match((await world.graph('GET', path, undefined, headers('OAuth', 0))).body, { file_offset: 2 })
  const { h } = (await world.graph('POST', path, Buffer.from('cd'), headers('OAuth', 2))).body
  const profile = { messaging_product: 'whatsapp', about: 'Hi', profile_picture_handle: h }
  t.same((await world.graph('POST', `${PNID}/whatsapp_business_profile`, profile)).body, { success: true })
  const read = (await world.graph('GET', `${PNID}/whatsapp_business_profile?fields=about,email,profile_picture_url`))
    .body
  t.match(read.data, [{ about: 'Hi', profile_picture_url: /^https:/, email: undefined }])
  const bad = { messaging_product: 'whatsapp', profile_picture_handle: 'nope' }
  t.equal((await world.graph('POST', `${PNID}/whatsapp_business_profile`, bad)).status, 400)
})

t.test('overrides need a handshake and win over the callback of the app', async t => {
  const world = await startWorld(t, { callbackUrl: 'http://127.0.0.1:9/nobody' })
  const subscribe = (token: string) =>
    world.graph('POST', `${WABA}/subscribed_apps`, { override_callback_uri: world.receiver.url, verify_token: token })
  t.match((await subscribe('wrong')).body, { error: { code: 2200 } })
  t.same((await world.graph('GET', `${WABA}/subscribed_apps`)).body, { data: [] })
  t.same((await subscribe('verify-me')).body, { success: true })
  const listed = (await world.graph('GET', `${WABA}/subscribed_apps`)).body.data
  t.match(listed, [{ whatsapp_business_api_data: { id: APP }, override_callback_uri: world.receiver.url }])
  await world.send(text('over'))
  await eventually(() => world.statuses('over').length === 3)
  const other = { override_callback_uri: `${world.receiver.url}/number`, verify_token: 'verify-me' }
  t.same((await world.graph('POST', PNID, { webhook_configuration: other })).body, { success: true })
  t.match((await world.graph('GET', `${PNID}?fields=webhook_configuration`)).body.webhook_configuration, {
    whatsapp_business_account: world.receiver.url,
    phone_number: other.override_callback_uri
  })
  await world.graph('DELETE', `${WABA}/subscribed_apps`)
  await world.send(text('deaf'))
  await world.drained()
  t.same(world.statuses('deaf'), [], 'without a subscription nothing comes')
  const app = `object=whatsapp_business_account&callback_url=${encodeURIComponent(world.receiver.url)}&verify_token=verify-me`
  const form = { 'content-type': 'application/x-www-form-urlencoded', authorization: `Bearer ${APP}|${SECRET}` }
  t.same((await world.graph('POST', `${APP}/subscriptions`, app, form)).body, { success: true })
  t.equal((await world.control('GET', 'state')).body.callbackUrl, world.receiver.url)
})

t.test('discovery and embedded signup', async t => {
  const world = await startWorld(t)
  await world.control('POST', 'wabas', { id: '88', name: 'Shared', shared: true })
  const { ids } = (await world.control('POST', 'signup-codes', { wabas: [WABA], token: 'EAABnew' })).body
  const exchange = (secret = SECRET) =>
    world.graph('GET', `oauth/access_token?client_id=${APP}&client_secret=${secret}&code=${ids[0]}`, undefined, {})
  t.equal((await exchange('wrong')).status, 400)
  t.same((await exchange()).body, { access_token: 'EAABnew', token_type: 'bearer' })
  t.match((await exchange()).body, { error: { code: 100, error_subcode: 36009 } })
  const inspect = (token: string) =>
    world.graph('GET', `debug_token?input_token=${token}&access_token=${APP}%7C${SECRET}`, undefined, {})
  t.match((await inspect('EAABnew')).body.data, { is_valid: true, granular_scopes: [{ target_ids: [WABA] }, {}] })
  t.match((await inspect('nope')).body.data, { is_valid: false, error: { code: 190 } })
  const fresh = { authorization: 'Bearer EAABnew' }
  t.equal((await world.graph('GET', 'me/businesses', undefined, fresh)).status, 403)
  t.equal((await world.graph('GET', `${WABA}?fields=name,owner_business_info`, undefined, fresh)).status, 200)
  t.match((await world.graph('GET', '88', undefined, fresh)).body, { error: { code: 100, error_subcode: 33 } })
  const [business] = (await world.graph('GET', 'me/businesses')).body.data
  const owned = (await world.graph('GET', `${business.id}/owned_whatsapp_business_accounts`)).body.data
  const shared = (await world.graph('GET', `${business.id}/client_whatsapp_business_accounts`)).body.data
  t.same([owned, shared], [[{ id: WABA, name: 'Acme WABA' }], [{ id: '88', name: 'Shared' }]])
})
