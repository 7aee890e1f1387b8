import { join } from 'node:path'
import t from 'tap'
import type { Event } from '../../src/domain/event.ts'
import { at, createHistory, type History, idOf, TENANT } from './history.ts'
import { viewsOf } from './spec.ts'

const text = (body: string) => ({ body })
const saved = (second: number, name: string, language: string, body: string): Event => ({
  type: 'TemplateSaved',
  at: at(second),
  data: { name, language, text: text(body) }
})
const observed = (second: number, name: string, more: object = {}): Event => ({
  type: 'TemplateObserved',
  at: at(second),
  data: { wabaId: '20', channelId: idOf('ch', 'one'), name, language: 'en', status: 'approved', ...more }
})
const note = (history: History, ...events: readonly Event[]) => history.append(`templates-${TENANT}`, events)

t.test("a tenant's own template, saved anew and removed in all languages", async t => {
  const history = createHistory()
  note(history, saved(1, 'greeting', 'en', 'Hello'), saved(2, 'greeting', 'de', 'Hallo'), saved(3, 'other', 'en', 'x'))
  note(history, saved(4, 'greeting', 'en', 'Hi'))
  const file = join(t.testdir({}), 'views.db')
  const views = await viewsOf(file, history)
  t.same(views.template(TENANT, 'greeting', 'en'), {
    name: 'greeting',
    language: 'en',
    status: 'approved',
    category: null,
    source: 'workspace',
    wabaId: null,
    text: text('Hi'),
    updatedAt: at(4)
  })
  t.equal(views.template(TENANT, 'greeting', 'fr'), null)
  t.equal(views.template('tn_other', 'greeting', 'en'), null)
  t.same(
    views.templatesNamed(TENANT, 'greeting').map(row => row.language),
    ['en', 'de']
  )
  views.close()
  note(history, { type: 'TemplateRemoved', at: at(5), data: { name: 'greeting' } })
  const after = await viewsOf(file, history)
  t.same(
    after.templates(TENANT, 10, null).items.map(row => row.name),
    ['other']
  )
  after.close()
  note(history, saved(6, 'greeting', 'de', 'Moin'))
  const again = await viewsOf(file, history)
  t.same(
    again.templatesNamed(TENANT, 'greeting').map(row => row.text),
    [text('Moin')]
  )
  again.close()
})

t.test('official ones: news keeps the text, deleted ones go, the own one comes first', async t => {
  const history = createHistory()
  note(history, observed(1, 'greeting', { text: text('Official'), category: 'UTILITY' }))
  note(history, observed(2, 'greeting', { status: 'paused', isNews: true }), observed(3, 'untold'))
  note(history, observed(4, 'greeting', { wabaId: '21' }))
  const file = join(t.testdir({}), 'views.db')
  const official = await viewsOf(file, history)
  t.match(official.template(TENANT, 'greeting', 'en'), {
    source: 'official',
    wabaId: '20',
    status: 'paused',
    category: 'UTILITY',
    text: text('Official'),
    updatedAt: at(2)
  })
  t.equal(official.template(TENANT, 'untold', 'en'), null, 'its text is not known')
  t.same(
    official.templatesNamed(TENANT, 'greeting').map(row => row.wabaId),
    ['20', '21']
  )
  official.close()
  note(history, saved(5, 'greeting', 'en', 'Own'), observed(6, 'untold', { status: 'deleted', isNews: true }))
  note(history, { type: 'TemplateRemoved', at: at(7), data: { name: 'nothing of ours' } })
  const own = await viewsOf(file, history)
  t.match(own.template(TENANT, 'greeting', 'en'), { source: 'workspace', text: text('Own') })
  t.same(own.templatesNamed(TENANT, 'untold'), [])
  own.close()
  note(history, { type: 'TemplateRemoved', at: at(8), data: { name: 'greeting' } })
  const back = await viewsOf(file, history)
  t.match(back.template(TENANT, 'greeting', 'en'), { source: 'official' })
  back.close()
})

t.test('the list in pages', async t => {
  const history = createHistory()
  for (let index = 0; index < 5; index++) note(history, saved(index, `name ${index}`, 'en', 'x'))
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  const names: string[] = []
  let cursor: string | null = null
  do {
    const page: ReturnType<typeof views.templates> = views.templates(TENANT, 2, cursor)
    names.push(...page.items.map(row => row.name))
    cursor = page.nextCursor
  } while (cursor !== null)
  t.same(names, ['name 0', 'name 1', 'name 2', 'name 3', 'name 4'])
  views.close()
})
