import t from 'tap'
import { banner } from '../../src/cli/banner.ts'
import { loadSettings } from '../../src/config/settings.ts'

const running = { sandbox: null, demo: null, anchorKey: 'MCow', stop: async () => {} }

function said(variables: Record<string, string>, more: Partial<Parameters<typeof banner>[1]> = {}): string {
  const loaded = loadSettings(variables)
  if (!loaded.ok) throw new Error('the settings of the test are wrong')
  return banner(loaded.settings, { ...running, url: 'http://0.0.0.0:3000', ...more })
}

t.test('providers that could not call back are spoken of', async t => {
  t.match(said({ HOST: '0.0.0.0' }), /WARNING: .*HOST=0\.0\.0\.0.* PUBLIC_URL is not set/)
  t.match(said({ HOST: '::', PORT: '0' }), 'WARNING')
  t.notMatch(said({ HOST: '0.0.0.0', PUBLIC_URL: 'https://messages.example.com' }), 'WARNING')
  t.notMatch(said({}), 'WARNING')
})

t.test('addresses to be copied can be called', async t => {
  t.match(said({ HOST: '0.0.0.0' }), 'documentation: http://127.0.0.1:3000/docs')
  const demo = { apiKey: 'llk_x', number: '5511900000001' }
  const text = said({}, { demo })
  t.match(text, "curl -s http://127.0.0.1:3000/v1/channels/5511900000001/messages -H 'Authorization: Bearer llk_x'")
  t.notMatch(text, 'start again', 'the sandbox reaches receivers on its own machine')
  t.match(said({ HOST: '0.0.0.0' }, { demo }), 'start again with OUTBOUND_ALLOWED_CIDRS=127.0.0.0/8')
  t.notMatch(said({ HOST: '0.0.0.0', OUTBOUND_ALLOWED_CIDRS: '127.0.0.0/8' }, { demo }), 'start again')
})
