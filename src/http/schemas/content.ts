import { z } from 'zod'
import { interactive } from './interactive.ts'
import { httpUrl, text } from './text.ts'

const plainText = z.strictObject({ kind: z.literal('text'), text: text(1, 4096) })

const media = z.strictObject({
  kind: z.literal('media'),
  media: z.enum(['image', 'video', 'audio', 'document']),
  url: httpUrl.describe('Public address of the file; must stay valid until the message has left.'),
  filename: text(1, 240).exactOptional(),
  caption: text(1, 1024).exactOptional()
})

const PARAMS_MAX = 100
const BUTTONS_MAX = 10

/** As the platform writes it. */
export const language = z
  .string()
  .max(15)
  .regex(/^[A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,8})*$/, 'must be a language code such as pt_BR')

const template = z
  .strictObject({
    kind: z.literal('template'),
    name: text(1, 512),
    language,
    bodyParams: z.array(text(0, 1024)).min(1).max(PARAMS_MAX).exactOptional(),
    headerText: text(1, 60).exactOptional(),
    headerMediaUrl: httpUrl.exactOptional(),
    buttonParams: z
      .array(text(0, 2000))
      .min(1)
      .max(BUTTONS_MAX)
      .describe('By position of the button; an empty text marks a button that takes none.')
      .exactOptional()
  })
  .refine(content => content.headerText === undefined || content.headerMediaUrl === undefined, {
    path: ['headerMediaUrl'],
    error: 'must not come together with headerText'
  })

const interactiveMessage = z.strictObject({ kind: z.literal('interactive'), interactive })

const EMOJI_MAX = 64

const target = z.string().regex(/^msg_[0-9a-z]{1,60}$/, 'must be a msg_ id')

/** Both names mean the same; the deprecated one is renamed here, so that nobody behind this door knows of it. */
const reaction = z
  .strictObject({
    kind: z.literal('reaction'),
    targetMessageId: target.exactOptional(),
    targetProviderMessageId: target.meta({ deprecated: true }).exactOptional(),
    emoji: text(0, EMOJI_MAX).refine(isEmoji, 'must be one emoji, or empty to take the reaction back')
  })
  .superRefine(({ targetMessageId, targetProviderMessageId }, context) => {
    const names = [targetMessageId, targetProviderMessageId].filter(name => name !== undefined)
    if (names.length === 0) context.addIssue({ code: 'custom', path: ['targetMessageId'], message: 'is required' })
    if (names.length === 2 && targetMessageId !== targetProviderMessageId) {
      context.addIssue({ code: 'custom', path: ['targetProviderMessageId'], message: 'must equal targetMessageId' })
    }
  })
  .transform(({ kind, targetMessageId, targetProviderMessageId, emoji }) => ({
    kind,
    targetMessageId: targetMessageId ?? targetProviderMessageId ?? '',
    emoji
  }))

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' })
const PICTURE = /\p{Extended_Pictographic}|\p{Regional_Indicator}{2}|[#*0-9]\uFE0F?\u20E3/u

/** One grapheme with a picture in it: newer emoji pass too, whatever this runtime's tables know. */
function isEmoji(value: string): boolean {
  if (value === '') return true
  if (value.length > 2 * EMOJI_MAX) return false
  return [...GRAPHEMES.segment(value)].length === 1 && PICTURE.test(value)
}

/** What a message can be, by `kind` (channel-service, Message content; limits of decisions §3). */
export const content = z.discriminatedUnion('kind', [plainText, media, template, interactiveMessage, reaction])
