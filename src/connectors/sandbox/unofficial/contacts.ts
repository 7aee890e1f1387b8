import { createHash } from 'node:crypto'
import { badRequest } from './errors.ts'
import { asString, isFields } from './fields.ts'
import { chatIdOf, digitsOf } from './ids.ts'
import { type Handler, json, type Routes } from './routing.ts'
import { withWorking } from './status.ts'
import type { Login, World } from './world.ts'

/** Pictures are public signed addresses, the same one for the same contact. */
const pictureOf = (id: string) =>
  `https://pps.whatsapp.net/v/t61/${createHash('sha256').update(id).digest('hex').slice(0, 24)}.jpg?oe=1`

function contactPicture(world: World, contactId: string): string | null {
  const number = contactId.endsWith('@lid') ? world.directory.numberOf(contactId) : digitsOf(contactId)
  return number !== null && world.directory.resolve(number) === null ? null : pictureOf(contactId)
}

/** Sets something of the own profile; `change` gives the problem of the body or null. */
const profileChange =
  (change: (login: Login, body: Record<string, unknown>) => string | null): Handler =>
  (world, { params, body }) =>
    withWorking(world, params.session, ({ login }) => {
      const problem = login && change(login, body)
      return problem ? badRequest([problem]) : json(200, { success: true })
    })

export const contactRoutes: Routes = {
  'GET /api/contacts/check-exists': (world, { query }) => {
    const phone = digitsOf(query.get('phone') ?? '')
    if (phone === '') return badRequest(['phone must be a string'])
    return withWorking(world, query.get('session') ?? '', () => {
      const chatId = world.directory.resolve(phone)
      return json(200, chatId === null ? { numberExists: false } : { numberExists: true, chatId })
    })
  },
  'GET /api/contacts/profile-picture': (world, { query }) => {
    const contactId = query.get('contactId')
    if (!contactId) return badRequest(['contactId must be a string'])
    return withWorking(world, query.get('session') ?? '', () =>
      json(200, { profilePictureURL: contactPicture(world, chatIdOf(contactId)) })
    )
  },
  'GET /api/:session/chats/:chat/picture': (world, { params }) =>
    withWorking(world, params.session, () => json(200, { url: contactPicture(world, chatIdOf(params.chat ?? '')) })),
  'GET /api/:session/lids/pn/:phone': (world, { params }) =>
    withWorking(world, params.session, () => {
      const number = digitsOf(params.phone ?? '')
      return json(200, { lid: world.directory.lidOfNumber(number), pn: `${number}@c.us` })
    }),
  'GET /api/:session/lids/:lid': (world, { params }) =>
    withWorking(world, params.session, () => {
      const lid = `${digitsOf(params.lid ?? '')}@lid`
      const number = world.directory.numberOf(lid)
      return json(200, { lid, pn: number === null ? null : `${number}@c.us` })
    }),
  'GET /api/:session/profile': (world, { params }) =>
    withWorking(world, params.session, ({ login }) =>
      json(200, { id: `${login?.number}@c.us`, name: login?.pushName, picture: login?.picture ?? null })
    ),
  'PUT /api/:session/profile/picture': profileChange((login, { file }) => {
    if (!isFields(file) || (asString(file.url) ?? asString(file.data)) === undefined) return 'file must be an object'
    login.picture = pictureOf(`${login.number} ${asString(file.url) ?? asString(file.data)}`)
    return null
  }),
  'DELETE /api/:session/profile/picture': profileChange(login => {
    login.picture = null
    return null
  }),
  'PUT /api/:session/profile/name': profileChange((login, { name }) => {
    login.pushName = asString(name) ?? login.pushName
    return asString(name) === undefined ? 'name must be a string' : null
  }),
  'PUT /api/:session/profile/status': profileChange((login, { status }) => {
    login.about = asString(status) ?? login.about
    return asString(status) === undefined ? 'status must be a string' : null
  })
}
