import t from 'tap'
import { environment, type VariableName } from '../../src/config/environment.ts'
import { formatProblems } from '../../src/config/problems.ts'
import { describeSettings, loadSettings, type Variables } from '../../src/config/settings.ts'

const machine = { hostName: 'box', processId: 42 }
const pool = [{ baseUrl: 'https://one.test/', apiKey: 'k1', engine: 'webjs', capacity: 50 }]

const problemsOf = (variables: Variables) => {
  const loaded = loadSettings(variables, machine)
  return loaded.ok ? [] : loaded.problems
}

t.test('no secret is ever shown', async t => {
  const hidden = 'hunter2'
  const leaky: Partial<Record<VariableName, string[]>> = {
    MASTER_KEY: [hidden],
    MASTER_KEY_PREVIOUS: [hidden],
    MASTER_API_KEY: [`${hidden} x`],
    OFFICIAL_APP_SECRET: [`${hidden} x`],
    OFFICIAL_VERIFY_TOKEN: [`${hidden} x`],
    UNOFFICIAL_WEBHOOK_SECRET: [`${hidden} x`],
    EVENTSTORE_URL: [
      `http://admin:${hidden}@h:1`,
      `admin:${hidden}@h`,
      `http://admin:p@ss/${hidden}@h`,
      `http://admin:${hidden}`
    ],
    REDIS_URL: [`http://:${hidden}@h`, `http://h:1?password=${hidden}`],
    PUBLIC_URL: [`https://u:${hidden}@h`],
    OFFICIAL_API_BASE_URL: [`https://u:${hidden}@h`, `https://h/?access_token=${hidden}`],
    PROVIDER_ALLOWED_BASE_URLS: [`https://a.test,https://u:${hidden}@b.test`],
    UNOFFICIAL_INSTANCES: [
      `[{"apiKey":"${hidden}"`,
      `"${hidden}"`,
      `["${hidden}"]`,
      `{"apiKey":"${hidden}"}`,
      JSON.stringify([{ ...pool[0], apiKey: hidden, engine: 'x' }]),
      JSON.stringify([{ ...pool[0], token: hidden }]),
      JSON.stringify([{ ...pool[0], engine: { apiKey: hidden } }]),
      JSON.stringify([{ ...pool[0], baseUrl: `https://u:${hidden}@one.test` }])
    ]
  }
  for (const [name, texts] of Object.entries(leaky)) {
    for (const text of texts) {
      const line = formatProblems(problemsOf({ [name]: text, SINGLE_NODE: 'true' }))
      t.ok(line.startsWith(`${name} holds `) && !line.includes(hidden), line)
    }
  }
  const [problem] = problemsOf({ UNOFFICIAL_INSTANCES: JSON.stringify([{ ...pool[0], engine: 'x' }]) })
  t.equal(problem?.held, '[{"baseUrl":"https://one.test/","apiKey":"***","engine":"x","capacity":50}]')
})

t.test('every variable is described for the documentation', async t => {
  const described = describeSettings()
  t.same(
    described.map(one => one.name),
    Object.keys(environment.shape)
  )
  for (const one of described) t.ok(one.default && one.allowed && one.meaning.endsWith('.'), one.name)
  t.match(
    described.find(one => one.name === 'PORT'),
    { default: '`3000`', isSecret: false }
  )
  t.same(
    described.filter(one => one.isSecret).map(one => one.name),
    [
      'MASTER_KEY',
      'MASTER_KEY_PREVIOUS',
      'MASTER_API_KEY',
      'OFFICIAL_APP_SECRET',
      'OFFICIAL_VERIFY_TOKEN',
      'UNOFFICIAL_WEBHOOK_SECRET'
    ]
  )
})
