import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'

export type DocumentInfo = {
  readonly title: string
  readonly description: string
  readonly version: string
  readonly publicUrl: string
  readonly security: 'bearer'
}

const SCHEMES = { bearer: { type: 'http', scheme: 'bearer', description: 'API key: `llk_…`' } } as const

/** The page loads from this listener only; no upgrade to https, since the service often runs behind plain http. */
const DOCS_CSP =
  "default-src 'self'; base-uri 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; frame-ancestors 'none'"

/** `/openapi.json` and `/docs`, made from the schemas of the routes that are registered after this. */
export function describeApi(app: FastifyInstance, info: DocumentInfo): void {
  const { title, description, version, publicUrl, security } = info
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title, description, version },
      servers: [{ url: publicUrl }],
      components: { securitySchemes: { [security]: SCHEMES[security] } },
      security: [{ [security]: [] }]
    },
    transform: jsonSchemaTransform,
    transformObject: document => withoutUnused(jsonSchemaTransformObject(document))
  })
  app.register(swaggerUi, { routePrefix: '/docs', staticCSP: DOCS_CSP, uiConfig: { validatorUrl: null } })
  app.register(async scope => {
    // Made once: the routes do not change after the start.
    let text: string | undefined
    scope.get('/openapi.json', { schema: { hide: true }, config: { quiet: true } }, async (_request, reply) => {
      text ??= JSON.stringify(scope.swagger())
      return reply.type('application/json; charset=utf-8').send(text)
    })
  })
}

type Document = ReturnType<typeof jsonSchemaTransformObject>

/** Each named schema comes twice, as input and as output: what nothing refers to is left out. */
function withoutUnused(document: Document): Document {
  if (!('components' in document) || !document.components?.schemas) return document
  const text = JSON.stringify(document)
  const used = Object.entries(document.components.schemas).filter(([name]) =>
    text.includes(`"#/components/schemas/${name}"`)
  )
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(used) } } as Document
}
