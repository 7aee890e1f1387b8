import { badParameter, refuse } from './errors.ts'
import { type JsonObject, longerThan, textOf } from './json.ts'
import type { Answer } from './wire.ts'

const MAX_CAPTION = 1024
export const MEDIA_KINDS = ['image', 'video', 'audio', 'document', 'sticker']

const missing = (name: string) => refuse(131008, `Required parameter is missing: ${name}`)
const invalid = (details: string) => refuse(131009, details)

const isLink = (value: string) => URL.canParse(value) && /^https?:/.test(value)

/** A media object has exactly one of an uploaded id and a link. */
export function mediaShape(kind: string, media: JsonObject): Answer | null {
  if (media.id === undefined && media.link === undefined) return missing(`${kind}['id'] or ${kind}['link']`)
  if (media.id !== undefined && media.link !== undefined) return invalid(`${kind} takes either id or link, not both`)
  if (media.link !== undefined && !isLink(textOf(media.link) ?? ''))
    return invalid(`${kind}['link'] is not a valid URL`)
  if (media.caption !== undefined) {
    const caption = textOf(media.caption)
    if (kind === 'audio' || kind === 'sticker') return badParameter(`Unexpected key "caption" on param "${kind}".`)
    if (caption === undefined || longerThan(caption, MAX_CAPTION)) {
      return badParameter(`Param ${kind}['caption'] must be at most ${MAX_CAPTION} characters long.`)
    }
  }
  if (media.filename !== undefined && kind !== 'document') {
    return badParameter(`Unexpected key "filename" on param "${kind}".`)
  }
  return null
}
