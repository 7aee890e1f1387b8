import { randomBytes } from 'node:crypto'
import { badParameter, refuse, requiredParameter, unknownObject } from './errors.ts'
import { scalarOf, textOf } from './json.ts'
import type { Call, Sim } from './sim.ts'
import { remember, type Upload } from './state.ts'
import { type Answer, json } from './wire.ts'

const TYPES = ['image/jpeg', 'image/jpg', 'image/png', 'application/pdf', 'video/mp4']
const MAX_FILE_BYTES = 100 * 1024 * 1024
const MAX_SESSIONS = 100
const MAX_HANDLES = 1000
const PREFIX = 'upload:'

export const isUpload = (id: string): boolean => id.startsWith(PREFIX)

/** `POST /APP/uploads`: opens a resumable upload. */
export function openUpload(sim: Sim, call: Call): Answer {
  const length = Number(scalarOf(call.body.file_length))
  const mimeType = textOf(call.body.file_type)
  if (!Number.isInteger(length) || length < 1) return requiredParameter('file_length')
  if (!mimeType) return requiredParameter('file_type')
  if (!TYPES.includes(mimeType)) return badParameter(`File type ${mimeType} is not supported`)
  if (length > MAX_FILE_BYTES) return badParameter('The file is too large')
  const upload: Upload = {
    id: `${PREFIX}${Buffer.from(`1:attachment:${randomBytes(6).toString('hex')}`).toString('base64url')}`,
    sig: `ARb${randomBytes(8).toString('hex')}`,
    length,
    mimeType,
    bytes: Buffer.alloc(0)
  }
  remember(sim.state.uploads, upload.id, upload, MAX_SESSIONS)
  return json({ id: `${upload.id}?sig=${upload.sig}` })
}

/** `POST /upload:…` takes the bytes, `GET` tells how many have arrived. Only `Authorization: OAuth` is taken here. */
export function uploadCall(sim: Sim, call: Call): Answer {
  const id = decodeURIComponent(call.path[0] ?? '')
  const upload = sim.state.uploads.get(id)
  if (!/^OAuth /.test(call.headers.authorization ?? ''))
    return refuse(190, undefined, { message: 'Use OAuth, not Bearer' })
  if (!upload || call.query.get('sig') !== upload.sig) return unknownObject(id, call.method)
  if (call.method === 'GET') return json({ id: `${id}?sig=${upload.sig}`, file_offset: upload.bytes.length })
  if (Number(call.headers.file_offset ?? 'none') !== upload.bytes.length)
    return badParameter('file_offset does not fit')
  if (upload.bytes.length + call.raw.length > upload.length) return badParameter('More bytes than announced')
  upload.bytes = Buffer.concat([upload.bytes, call.raw])
  if (upload.bytes.length < upload.length)
    return json({ id: `${id}?sig=${upload.sig}`, file_offset: upload.bytes.length })
  const type = Buffer.from(upload.mimeType).toString('base64')
  const handle = `4:${Buffer.from(id.slice(PREFIX.length, -4)).toString('base64')}:${type}:${upload.sig}`
  remember(sim.state.handles, handle, { mimeType: upload.mimeType, size: upload.length }, MAX_HANDLES)
  sim.state.uploads.delete(id)
  return json({ h: handle })
}
