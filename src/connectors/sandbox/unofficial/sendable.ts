import { type Content, contentOf, type Kind } from './content.ts'
import { asArray, asFields, asNumber, asString, type Fields, isFields } from './fields.ts'
import type { Engine } from './world.ts'

/** One kind of send: what its body must hold, what it says, and which engines cannot do it. */
export type Sendable = {
  problems(body: Fields): string[]
  content(body: Fields): Content
  lacking: Engine[]
  /** Whether the pre-generated `id` is taken (section 4.2); elsewhere it is dropped. */
  takesId: boolean
}

const mustBeString = (body: Fields, ...names: string[]) =>
  names.filter(name => asString(body[name]) === undefined).map(name => `${name} must be a string`)
const mustBeNumber = (body: Fields, ...names: string[]) =>
  names.filter(name => asNumber(body[name]) === undefined).map(name => `${name} must be a number`)
const mustBeFilled = (body: Fields, name: string) =>
  asArray(body[name]).length === 0 ? [`${name} should not be empty`] : []

/** `session` and `chatId`, which every send has. */
export const addressProblems = (body: Fields) => mustBeString(body, 'session', 'chatId')

const BASE64 = /^[A-Za-z0-9+/\s]*=*\s*$/

function fileProblems({ file }: Fields): string[] {
  if (!isFields(file)) return ['file must be an object']
  const problems = mustBeString(file, 'mimetype').map(problem => `file.${problem}`)
  const data = asString(file.data)
  if (asString(file.url) === undefined && data === undefined) problems.push('file.url must be a string')
  if (data !== undefined && !BASE64.test(data.slice(0, 1000))) problems.push('file.data must be base64 encoded')
  return problems
}

const fileSend = (kind: Kind): Sendable => ({
  problems: fileProblems,
  content: ({ file, caption }) => {
    const { mimetype, filename } = asFields(file)
    const stored = { mimetype: asString(mimetype) ?? '', filename: asString(filename) ?? null, bytes: null }
    return contentOf(kind, asString(caption) ?? null, { file: stored })
  },
  lacking: [],
  takesId: false
})

const text: Sendable = {
  problems: body => mustBeString(body, 'text'),
  content: body => contentOf('text', asString(body.text) ?? ''),
  lacking: [],
  takesId: true
}

const location: Sendable = {
  problems: body => mustBeNumber(body, 'latitude', 'longitude'),
  content: body => {
    const title = asString(body.title) ?? null
    const place = { latitude: asNumber(body.latitude) ?? 0, longitude: asNumber(body.longitude) ?? 0, title }
    return contentOf('location', title, { location: { ...place, address: null } })
  },
  lacking: [],
  takesId: true
}

const vcard: Sendable = {
  problems: body => mustBeFilled(body, 'contacts'),
  content: body => contentOf('vcard', null, { vCards: asArray(body.contacts).map(asFields).map(vcardOf) }),
  lacking: [],
  takesId: true
}

function vcardOf(contact: Fields): string {
  const given = asString(contact.vcard)
  if (given !== undefined) return given
  const phone = `TEL;type=CELL;waid=${contact.whatsappId}:${contact.phoneNumber}`
  return `BEGIN:VCARD\nVERSION:3.0\nFN:${contact.fullName}\nORG:${contact.organization ?? ''}\n${phone}\nEND:VCARD`
}

const list: Sendable = {
  problems: ({ message }) =>
    isFields(message)
      ? [...mustBeString(message, 'title', 'button'), ...mustBeFilled(message, 'sections')].map(p => `message.${p}`)
      : ['message must be an object'],
  content: ({ message }) => contentOf('list', asString(asFields(message).description) ?? null),
  lacking: ['WEBJS'],
  takesId: false
}

const buttons: Sendable = {
  problems: body => [...mustBeString(body, 'body'), ...mustBeFilled(body, 'buttons')],
  content: ({ body }) => contentOf('buttons', asString(body) ?? null),
  lacking: ['WEBJS', 'GOWS'],
  takesId: false
}

/** By endpoint name, `POST /api/{name}`. */
export const sendables: Record<string, Sendable> = {
  sendText: text,
  sendImage: fileSend('image'),
  sendFile: fileSend('document'),
  sendVideo: fileSend('video'),
  sendVoice: fileSend('voice'),
  sendLocation: location,
  sendContactVcard: vcard,
  sendList: list,
  sendButtons: buttons
}
