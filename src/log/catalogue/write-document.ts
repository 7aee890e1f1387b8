/** Writes `docs/events.md` of the checkout that it is run in. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogue } from './catalogue.ts'
import { eventsDocument } from './document.ts'

writeFileSync(join(process.cwd(), 'docs', 'events.md'), eventsDocument(catalogue.all()))
