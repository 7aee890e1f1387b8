import { readFileSync } from 'node:fs'
import t from 'tap'
import { settingsDocument } from '../../src/cli/settings-document.ts'
import { describeSettings } from '../../src/config/settings.ts'

t.test('docs/settings.md is up to date (`npm run docs` writes it)', async t => {
  const document = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8')
  t.equal(document, settingsDocument(describeSettings()))
  for (const { name } of describeSettings()) t.match(document, `| \`${name}\``)
})
