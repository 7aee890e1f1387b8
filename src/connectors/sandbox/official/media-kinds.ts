const MB = 1024 * 1024

/** MIME types and sizes that the platform takes for each kind of media. */
const KINDS: Record<string, { mimeTypes: readonly string[]; maxBytes: number }> = {
  audio: {
    mimeTypes: ['audio/aac', 'audio/amr', 'audio/mpeg', 'audio/mp4', 'audio/ogg'],
    maxBytes: 16 * MB
  },
  document: {
    mimeTypes: [
      'text/plain',
      'application/pdf',
      'application/msword',
      'application/vnd.ms-excel',
      'application/vnd.ms-powerpoint',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'application/vnd.openxmlformats-officedocument.presentationml.presentation'
    ],
    maxBytes: 100 * MB
  },
  image: { mimeTypes: ['image/jpeg', 'image/png'], maxBytes: 5 * MB },
  sticker: { mimeTypes: ['image/webp'], maxBytes: 500 * 1024 },
  video: { mimeTypes: ['video/mp4', 'video/3gpp'], maxBytes: 16 * MB }
}

export const ALL_MIME_TYPES = Object.values(KINDS).flatMap(kind => kind.mimeTypes)

/** The type without parameters such as codecs. */
export const bareMime = (mimeType: string): string => mimeType.split(';')[0]?.trim().toLowerCase() ?? ''

/** Whether a stored file of this type can be sent as this kind; any known type passes as a document. */
export function acceptsMime(kind: string, mimeType: string): boolean {
  return kind === 'document' || (KINDS[kind]?.mimeTypes.includes(bareMime(mimeType)) ?? false)
}

/** The size limit of the kind that the type belongs to, or undefined for an unknown type. */
export const maxBytesOf = (mimeType: string): number | undefined =>
  Object.values(KINDS).find(kind => kind.mimeTypes.includes(bareMime(mimeType)))?.maxBytes
