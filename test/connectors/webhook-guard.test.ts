import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { createGuard } from '../../src/connectors/webhook/guard.ts'
import { createWebhookPoster } from '../../src/connectors/webhook/post.ts'

const strict = createGuard({ allowedCidrs: [], lookup: async () => ['93.184.215.14'] })

const refusedAddresses: Record<string, string[]> = {
  unspecified: ['0.0.0.0', '0.1.2.3', '::', '::ffff:0.0.0.0'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  private: [
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '::ffff:10.1.2.3',
    '::ffff:0:192.168.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::c0a8:1',
    '2002:a00:1::1',
    '2002:c0a8:101::',
    '2001:0:a00:1::f5ff:fffe',
    '2001:0:808:808::f5ff:fffe',
    '2600:1f18::5efe:10.0.0.1',
    '2600:1f18::200:5efe:c0a8:1'
  ],
  link_local: ['169.254.1.1', 'fe80::1', 'fe80::1%eth0', 'febf::1', '::ffff:169.254.1.1'],
  unique_local: ['fc00::1', 'fd12:3456:789a::1'],
  carrier_grade_nat: ['100.64.0.1', '100.127.255.255', '::ffff:100.64.0.1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  broadcast: ['255.255.255.255', '::ffff:255.255.255.255'],
  metadata: [
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd00:0ec2:0::254',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1'
  ],
  reserved: [
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '240.0.0.1',
    '::127.0.0.1',
    '::8.8.8.8',
    '64:ff9b:1::808:808',
    'fec0::1',
    '100::1',
    '2001:db8::1',
    '3fff::1',
    '4000::1',
    '5f00::1'
  ],
  not_an_address: [
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '1.2.3.4.5',
    '[::1]',
    '1.2.3.4 ',
    ':::'
  ]
}

t.test('every class of address that is not public is refused, in whatever form it comes', async t => {
  for (const [reason, addresses] of Object.entries(refusedAddresses)) {
    for (const ip of addresses) t.same(strict.checkAddress(ip), { ok: false, reason }, `${ip} is ${reason}`)
  }
})

t.test('public addresses pass, translated ones too', async t => {
  const open = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1', '::ffff:8.8.8.8']
  for (const ip of [...open, '64:ff9b::808:808', '2002:808:808::1']) t.same(strict.checkAddress(ip), { ok: true }, ip)
})

t.test('allowed ranges are let through, and nothing beside them', async t => {
  const guard = createGuard({ allowedCidrs: ['10.1.0.0/16', 'fd00:1::/32', '127.0.0.1'] })
  for (const ip of ['10.1.2.3', '::ffff:10.1.2.3', 'fd00:1::9', '127.0.0.1']) {
    t.same(guard.checkAddress(ip), { ok: true }, ip)
  }
  for (const ip of ['10.2.0.1', 'fd00:2::9', '127.0.0.2', '::1', '169.254.169.254'])
    t.notOk(guard.checkAddress(ip).ok, ip)
  for (const range of ['10.0.0.0/33', '10/8', 'private', '::/129']) {
    t.throws(() => createGuard({ allowedCidrs: [range] }), /not in CIDR form/, range)
  }
})

const refusedUrls: Record<string, string[]> = {
  invalid_url: [
    '',
    'hook',
    '/hook',
    'http://',
    'https:example.com',
    'http:/example.com',
    'http:\\\\example.com\\x',
    'http://exam\tple.com',
    ' https://example.com',
    'https://example.com/a b',
    'http://example.com:99999/',
    'http://[fe80::1%25eth0]/',
    `https://example.com/${'a'.repeat(2100)}`
  ],
  unsupported_scheme: [
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com',
    'javascript:alert(1)',
    'data:,x'
  ],
  user_info: [
    'https://user:pass@example.com/',
    'https://user@example.com',
    'https://@example.com',
    'http://a@b@example.com'
  ],
  loopback: [
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://127.1:8080/',
    'http://127.0.0.1./',
    'http://127%2e0.0.1/',
    'http://１２７.0.0.1/',
    'http://127。0。0。1/',
    'http://[::1]:3000/x',
    'http://[::ffff:127.0.0.1]/',
    'http://[0:0:0:0:0:ffff:7f00:1]/'
  ],
  metadata: ['http://169.254.169.254/latest/meta-data/', 'http://0xa9fea9fe/', 'http://[::ffff:a9fe:a9fe]/'],
  unspecified: ['http://0/', 'http://0.0.0.0:80/', 'http://[::]/'],
  private: ['https://192.168.0.1:8443/x', 'https://0xc0a80001/', 'http://[64:ff9b::a00:1]/']
}

t.test('URLs are refused by their syntax or by the address in them', async t => {
  for (const [reason, urls] of Object.entries(refusedUrls)) {
    for (const url of urls) {
      t.same(strict.checkUrl(url), { ok: false, reason }, `${url.slice(0, 60)} is ${reason}`)
      t.same(await strict.resolve(url), { ok: false, reason }, `${url.slice(0, 60)}, resolved`)
    }
  }
})

t.test('http and https on any port pass, names, IPv4 and IPv6', async t => {
  const open = [
    'https://example.com',
    'http://example.com:8081/hook?a=b@c',
    'https://8.8.8.8:444/',
    'http://[2606:4700::1111]:81/'
  ]
  for (const url of open) t.same(strict.checkUrl(url), { ok: true }, url)
  t.same(await strict.resolve('http://[2606:4700::1111]:81/'), { ok: true, addresses: ['2606:4700::1111'] })
  t.same(await strict.resolve('https://example.com/hook'), { ok: true, addresses: ['93.184.215.14'] })
})

t.test('a name is refused when any of its addresses is, or when it has none', async t => {
  const names: Record<string, string[]> = {
    'mixed.test': ['8.8.8.8', '10.0.0.1'],
    'none.test': [],
    'open.test': ['8.8.8.8']
  }
  const lookup = async (name: string): Promise<string[]> => names[name] ?? Promise.reject(new Error('no such name'))
  const guard = createGuard({ allowedCidrs: [], lookup })
  t.same(await guard.resolve('https://mixed.test'), { ok: false, reason: 'private' })
  t.same(await guard.resolve('https://none.test'), { ok: false, reason: 'unresolvable' })
  t.same(await guard.resolve('https://unknown.test'), { ok: false, reason: 'unresolvable' })
  t.same(await guard.resolve('https://open.test'), { ok: true, addresses: ['8.8.8.8'] })
})

t.test('localhost is looked up by the system and refused', async t => {
  const guard = createGuard({ allowedCidrs: [] })
  for (const name of ['localhost', 'localhost.', 'LOCALHOST']) {
    t.same(await guard.resolve(`http://${name}:1/`), { ok: false, reason: 'loopback' }, name)
  }
})

t.test('the connection-time lookup answers in the form that the socket asks for', async t => {
  const guard = createGuard({ allowedCidrs: [], lookup: async () => ['8.8.8.8', '2606:4700::1111'] })
  const ask = (options: { all?: boolean; family?: number }) =>
    new Promise<unknown>(resolve => guard.lookup('a.test', options, (...answer) => resolve(answer)))
  const all = [
    { address: '8.8.8.8', family: 4 },
    { address: '2606:4700::1111', family: 6 }
  ]
  t.same(await ask({ all: true }), [null, all])
  t.same(await ask({ all: true, family: 6 }), [null, all.slice(1)])
  t.same(await ask({}), [null, '8.8.8.8', 4])
  t.same(await ask({ family: 6 }), [null, '2606:4700::1111', 6])
})

t.test('a name that changes its answer between check and connect reaches nothing', async t => {
  let visits = 0
  const server = createServer((_, response) => {
    visits += 1
    response.writeHead(204).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const answers = [['8.8.8.8'], ['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::ffff:127.0.0.1']]
  const guard = createGuard({ allowedCidrs: [], lookup: async () => answers.shift() ?? [] })
  const poster = createWebhookPoster({ guard, timeoutMs: 2_000, userAgent: 'test', maxConnectionsPerOrigin: 2 })
  t.teardown(async () => {
    await poster.close()
    server.close()
  })
  const url = `http://rebind.test:${port}/`
  t.same(await guard.resolve(url), { ok: true, addresses: ['8.8.8.8'] }, 'the check passes')
  for (const error of ['blocked', 'blocked', 'blocked', 'dns']) {
    t.match(await poster.post({ url, body: Buffer.from('{}'), headers: {} }), { kind: 'failed', error })
  }
  t.equal(visits, 0)
})
