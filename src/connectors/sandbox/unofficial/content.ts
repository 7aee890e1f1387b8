import type { Fields } from './fields.ts'
import type { Engine } from './world.ts'

export type Kind =
  | 'text'
  | 'image'
  | 'video'
  | 'voice'
  | 'audio'
  | 'document'
  | 'sticker'
  | 'location'
  | 'vcard'
  | 'list'
  | 'buttons'
  | 'list_reply'
  | 'button_reply'
  | 'reaction'

export type ContentFile = { mimetype: string; filename: string | null; bytes: Buffer | null }
export type ContentLocation = { latitude: number; longitude: number; title: string | null; address: string | null }

/** What a message says, whichever engine carries it. */
export type Content = {
  kind: Kind
  /** Text, caption, title of a chosen option; null when there is none. */
  text: string | null
  file: ContentFile | null
  location: ContentLocation | null
  vCards: string[]
  choice: { id: string; title: string } | null
}

export const contentOf = (kind: Kind, text: string | null, rest: Partial<Content> = {}): Content => ({
  kind,
  text,
  file: null,
  location: null,
  vCards: [],
  choice: null,
  ...rest
})

/** `_data.type` of WEBJS. */
export function webjsType({ kind, vCards }: Content): string {
  if (kind === 'text') return 'chat'
  if (kind === 'voice') return 'ptt'
  if (kind === 'vcard') return vCards.length > 1 ? 'multi_vcard' : 'vcard'
  if (kind === 'list_reply') return 'list_response'
  if (kind === 'button_reply') return 'buttons_response'
  return kind
}

/** The protobuf JSON inside `_data` of NOWEB and GOWS; GOWS spells some capitals in its own way. */
export function protobufOf(engine: Engine, content: Content): Fields {
  const { kind, text, file, location, vCards, choice } = content
  const caption = text === null ? {} : { caption: text }
  if (kind === 'text') return engine === 'NOWEB' ? { extendedTextMessage: { text } } : { conversation: text }
  if (kind === 'image') return { imageMessage: { ...caption, mimetype: file?.mimetype } }
  if (kind === 'video') return { videoMessage: { ...caption, mimetype: file?.mimetype } }
  if (kind === 'voice') return { audioMessage: { ptt: true, mimetype: file?.mimetype } }
  if (kind === 'audio') return { audioMessage: { ptt: false, mimetype: file?.mimetype } }
  if (kind === 'sticker') return { stickerMessage: { mimetype: file?.mimetype } }
  if (kind === 'document') {
    const fileLength = String(file?.bytes?.length ?? 0)
    return { documentMessage: { ...caption, mimetype: file?.mimetype, fileName: file?.filename, fileLength } }
  }
  if (kind === 'location') {
    const degrees = { degreesLatitude: location?.latitude, degreesLongitude: location?.longitude }
    return { locationMessage: { ...degrees, name: location?.title } }
  }
  if (kind === 'vcard') {
    const contacts = vCards.map(vcard => ({ vcard }))
    return contacts.length > 1 ? { contactsArrayMessage: { contacts } } : { contactMessage: contacts[0] ?? {} }
  }
  if (kind === 'list') return { listMessage: { description: text } }
  if (kind === 'buttons') return { buttonsMessage: { contentText: text } }
  if (kind === 'reaction') return { reactionMessage: { text } }
  return replyOf(engine, kind, choice ?? { id: '', title: '' })
}

function replyOf(engine: Engine, kind: 'list_reply' | 'button_reply', { id, title }: { id: string; title: string }) {
  if (kind === 'list_reply') {
    const row = engine === 'GOWS' ? { selectedRowID: id } : { selectedRowId: id }
    return { listResponseMessage: { title, singleSelectReply: row } }
  }
  const button = engine === 'GOWS' ? { selectedButtonID: id } : { selectedButtonId: id }
  return { buttonsResponseMessage: { ...button, selectedDisplayText: title } }
}

/** The fields WEBJS adds to `_data` for chosen options. */
export function webjsChoice({ kind, choice }: Content): Fields {
  if (!choice) return {}
  if (kind === 'button_reply') return { selectedButtonId: choice.id }
  return { listResponse: { title: choice.title, singleSelectReply: { selectedRowId: choice.id } } }
}
