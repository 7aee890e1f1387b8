import { callerOf, may } from '../access.ts'
import { answer } from '../answer.ts'
import type { App } from '../app-types.ts'
import { onePage } from '../page.ts'
import type { ServiceDoors } from '../ports.ts'
import { acceptRiskBody, erased, erasureBody, riskAcceptance } from '../schemas/compliance.ts'
import { documented } from '../schemas/documented.ts'
import { bearerFailures, bodyFailures } from '../schemas/failure.ts'
import { page } from '../schemas/paging.ts'
import { showErased, showRisk } from './present.ts'

const RISKS = '/v1/compliance/risk-acceptances'

/** `POST /v1/erasure`, and the terms of risk that the workspace accepts. */
export function compliance(app: App, { erasure, risks }: ServiceDoors): void {
  const onRequest = may('compliance:write')
  const tags = ['Compliance']
  const erase = {
    tags,
    summary: "Erase a contact's data",
    description:
      'Any address of the contact erases all of it: what was sent to or came from its other addresses goes too. ' +
      'Repeating it is fine. A contact that nobody knows is answered alike, with zeros.',
    body: erasureBody,
    response: { 200: documented('The data is unreadable from now on.', erased), ...bodyFailures() }
  }
  app.post('/v1/erasure', { onRequest, schema: erase }, async (request, reply) => {
    return answer(reply, await erasure.erase(callerOf(request), request.body), 200, showErased)
  })

  const accept = {
    tags,
    summary: 'Accept the terms of risk',
    description: 'Accepting them again changes nothing.',
    body: acceptRiskBody,
    response: { 201: documented('The acceptance.', riskAcceptance), ...bodyFailures('conflict') }
  }
  app.post(RISKS, { onRequest, schema: accept }, async (request, reply) => {
    return answer(reply, await risks.accept(callerOf(request), request.body), 201, showRisk)
  })

  const list = {
    tags,
    summary: 'List accepted terms of risk',
    response: { 200: page(riskAcceptance, 'Oldest first.'), ...bearerFailures() }
  }
  app.get(RISKS, { onRequest: may('channels:read'), schema: list }, async request => {
    const rows = await risks.list(callerOf(request))
    return onePage(rows.map(showRisk))
  })
}
