import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { joinVariables, readEnvFile } from '../../src/config/env-file.ts'

t.test('a file is read, quotes and comments included', async t => {
  const path = join(t.testdir(), '.env')
  writeFileSync(path, '# ours\nPORT=4000\nMASTER_API_KEY="a b" # why\nexport HOST=0.0.0.0\nREDIS_URL=\n')
  t.same(readEnvFile(path), { PORT: '4000', MASTER_API_KEY: 'a b', HOST: '0.0.0.0', REDIS_URL: '' })
})

t.test('no file is no variables, a file that cannot be read is an error', async t => {
  const folder = t.testdir()
  t.same(readEnvFile(join(folder, '.env')), {})
  mkdirSync(join(folder, 'folder'))
  t.throws(() => readEnvFile(join(folder, 'folder')), { code: 'EISDIR' })
})

t.test('the environment wins over the file, by an empty value too', async t => {
  const file = { PORT: '4000', REDIS_URL: 'redis://r', HOST: '0.0.0.0' }
  t.same(joinVariables(file, { PORT: '5000', REDIS_URL: '' }), { PORT: '5000', REDIS_URL: '', HOST: '0.0.0.0' })
})
