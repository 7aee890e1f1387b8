/** Writes `docs/settings.md` of the checkout that it is run in. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeSettings } from '../config/settings.ts'
import { settingsDocument } from './settings-document.ts'

writeFileSync(join(process.cwd(), 'docs', 'settings.md'), settingsDocument(describeSettings()))
