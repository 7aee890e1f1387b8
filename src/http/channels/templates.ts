import { z } from 'zod'
import { callerOf, may } from '../access.ts'
import { answer, answerEmpty, refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import { ask } from '../page.ts'
import type { ServiceDoors } from '../ports.ts'
import { documented } from '../schemas/documented.ts'
import { bearerFailures, bodyFailures } from '../schemas/failure.ts'
import { cursor, limit, nothing, page } from '../schemas/paging.ts'
import { templateParams } from '../schemas/params.ts'
import { isTemplateName, saveTemplateBody, template } from '../schemas/template.ts'
import { showTemplate } from './present.ts'

/** `/v1/templates`: what the workspace knows of, and its own ones for unofficial numbers (decisions §4). */
export function templates(app: App, doors: ServiceDoors): void {
  const tags = ['Templates']
  const list = {
    tags,
    summary: 'List templates',
    querystring: z.object({ limit, cursor }),
    response: {
      200: page(template, 'In the order in which they came to be known.'),
      ...bearerFailures('validation_failed')
    }
  }
  app.get('/v1/templates', { onRequest: may('messages:read'), schema: list }, async request => {
    const { items, nextCursor } = await ask('cursor', () => doors.templates.list(callerOf(request), request.query))
    return { items: items.map(showTemplate), nextCursor }
  })

  const save = {
    tags,
    summary: 'Save a template of the workspace',
    description: 'One with the same name and language is replaced.',
    body: saveTemplateBody,
    response: { 200: documented('The template.', template), ...bodyFailures() }
  }
  app.put('/v1/templates', { onRequest: may('channels:write'), schema: save }, async (request, reply) => {
    return answer(reply, await doors.templates.save(callerOf(request), request.body), 200, showTemplate)
  })

  const remove = {
    tags,
    summary: 'Remove a template of the workspace',
    description: 'In all its languages. Those of the official platform stay: they are removed there.',
    params: templateParams,
    response: { 204: nothing, ...bearerFailures('resource_not_found') }
  }
  app.delete('/v1/templates/:name', { onRequest: may('channels:write'), schema: remove }, async (request, reply) => {
    const { name } = request.params
    if (!isTemplateName(name)) return refuse(reply, 'resource_not_found')
    return answerEmpty(reply, await doors.templates.remove(callerOf(request), name))
  })
}
