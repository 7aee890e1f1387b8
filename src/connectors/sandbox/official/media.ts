import { createHash } from 'node:crypto'
import { authenticate, isToken, lacks, MESSAGING, sees } from './access.ts'
import { badParameter, requiredParameter, unknownObject } from './errors.ts'
import { ALL_MIME_TYPES, bareMime, maxBytesOf } from './media-kinds.ts'
import { readMultipart } from './multipart.ts'
import type { Call, Sim } from './sim.ts'
import { newId, type PhoneNumber, type StoredMedia } from './state.ts'
import { type Answer, json, success } from './wire.ts'

const MEDIA_IDS = 900_000_000_000_000
const UPLOADED_TTL_MS = 30 * 86_400_000
const INBOUND_TTL_MS = 7 * 86_400_000
const MAX_STORED_BYTES = 256 * 1024 * 1024
export const DOWNLOAD_PATH = '/whatsapp_business/attachments/'

/** Stores a file for an account; the oldest files go when the store is full. */
export function storeMedia(
  sim: Sim,
  number: PhoneNumber,
  bytes: Buffer,
  mimeType: string,
  inbound: boolean
): StoredMedia {
  const { state } = sim
  const media: StoredMedia = {
    id: newId(state, MEDIA_IDS),
    wabaId: number.wabaId,
    numberId: number.id,
    mimeType,
    sha256: createHash('sha256').update(bytes).digest(),
    // A copy: the part of a multipart body would otherwise keep the whole body alive.
    bytes: Buffer.from(bytes),
    expiresAt: sim.now() + (inbound ? INBOUND_TTL_MS : UPLOADED_TTL_MS)
  }
  state.media.set(media.id, media)
  state.mediaBytes += bytes.length
  for (const old of state.media.values()) {
    if (state.mediaBytes <= MAX_STORED_BYTES || old === media) break
    forget(sim, old)
  }
  return media
}

function forget(sim: Sim, media: StoredMedia): void {
  if (sim.state.media.delete(media.id)) sim.state.mediaBytes -= media.bytes.length
}

/** A download URL that works with a bearer token until the set time has passed. */
export function downloadUrl(sim: Sim, media: StoredMedia): string {
  const expiry = sim.now() + sim.state.settings.mediaUrlTtlMs
  return `${sim.origin}${DOWNLOAD_PATH}?mid=${media.id}&ext=${expiry}&hash=${urlHash(sim, media.id, expiry)}`
}

const urlHash = (sim: Sim, id: string, expiry: number) =>
  createHash('sha256').update(`${id}.${expiry}.${sim.state.appSecret}`).digest('base64url').slice(0, 22)

/** `POST /PNID/media`. */
export function uploadMedia(sim: Sim, call: Call, number: PhoneNumber): Answer {
  const denied = lacks(call.token, MESSAGING)
  if (denied) return denied
  const parts = readMultipart(call.raw, call.headers['content-type'] ?? '')
  const textIn = (name: string) => parts.find(part => part.name === name)?.bytes.toString('utf8')
  const file = parts.find(part => part.name === 'file')
  if (textIn('messaging_product') !== 'whatsapp') return requiredParameter('messaging_product')
  if (!file) return requiredParameter('file')
  const mimeType = file.mimeType ?? textIn('type') ?? ''
  const limit = maxBytesOf(mimeType)
  if (limit === undefined) {
    return badParameter(
      `Param file must be a file with one of the following types: ${ALL_MIME_TYPES.join(', ')}. Received file of type '${bareMime(mimeType)}'.`
    )
  }
  if (file.bytes.length === 0 || file.bytes.length > limit) {
    return badParameter(`Param file must be between 1 and ${limit} bytes for this type.`)
  }
  return json({ id: storeMedia(sim, number, file.bytes, mimeType, false).id })
}

/** `GET` or `DELETE /MEDIA_ID`. */
export function mediaCall(sim: Sim, call: Call, media: StoredMedia): Answer {
  const asked = call.query.get('phone_number_id')
  const foreign = asked !== null && sim.state.numbers.get(asked)?.wabaId !== media.wabaId
  if (foreign || !sees(call.token, media.wabaId) || media.expiresAt < sim.now() || call.path.length > 1) {
    return unknownObject(media.id, call.method)
  }
  const denied = lacks(call.token, MESSAGING)
  if (denied) return denied
  if (call.method === 'DELETE') {
    forget(sim, media)
    return success
  }
  return json({
    messaging_product: 'whatsapp',
    url: downloadUrl(sim, media),
    mime_type: media.mimeType,
    sha256: media.sha256.toString('hex'),
    file_size: media.bytes.length,
    id: media.id
  })
}

/** The file itself; the URL expires and needs the bearer token as well. */
export function downloadMedia(sim: Sim, query: URLSearchParams, header: string | undefined): Answer {
  const token = authenticate(sim.state, header, null)
  if (!isToken(token)) return token
  const id = query.get('mid') ?? ''
  const expiry = Number(query.get('ext'))
  const media = sim.state.media.get(id)
  const valid = query.get('hash') === urlHash(sim, id, expiry) && expiry > sim.now()
  if (!media || !valid || !sees(token, media.wabaId)) return { status: 404, body: '', type: 'text/plain' }
  return { status: 200, body: media.bytes, type: media.mimeType }
}
