import type { CallResult, OfficialLine, OfficialTemplate } from '../port.ts'
import { templateStatusOf } from './account-news.ts'
import type { HttpClient } from './exchange.ts'
import { findInPages } from './graph.ts'
import { type Loose, listOf, objectOf, textOf } from './loose-json.ts'

const FIELDS = 'name,language,status,category,components'

/** Every template of the business account (`provider-official`, 9), one item a name and language. */
export async function templates(
  http: HttpClient,
  line: OfficialLine,
  timeoutMs: number
): Promise<CallResult<readonly OfficialTemplate[]>> {
  const found: OfficialTemplate[] = []
  const path = `/${encodeURIComponent(line.wabaId)}/message_templates?fields=${FIELDS}`
  const read = await findInPages(http, line, path, timeoutMs, item => {
    const template = templateOf(item)
    if (template) found.push(template)
    return false
  })
  return read.kind === 'ok' ? { kind: 'ok', value: found } : read
}

function templateOf(item: Loose): OfficialTemplate | null {
  const name = textOf(item.name)
  const language = textOf(item.language)
  const status = templateStatusOf(textOf(item.status))
  if (name === null || language === null || status === null) return null
  const components = listOf(item.components).map(objectOf)
  const text = (type: string): string | null =>
    textOf(components.find(component => textOf(component.type)?.toUpperCase() === type)?.text)
  return {
    name,
    language: language.replaceAll('-', '_'),
    status,
    category: textOf(item.category),
    body: text('BODY'),
    header: text('HEADER'),
    footer: text('FOOTER')
  }
}
