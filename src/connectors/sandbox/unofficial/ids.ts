import { createHash, randomBytes } from 'node:crypto'
import type { Engine, Message } from './world.ts'

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARACTERS = 10
const RANDOM_CHARACTERS = 16

/** Lower-case ULID: 10 characters of milliseconds, 16 of chance. */
export function ulid(nowMs: number): string {
  let time = ''
  for (let rest = nowMs, index = 0; index < TIME_CHARACTERS; index++, rest = Math.floor(rest / 32)) {
    time = CROCKFORD.charAt(rest % 32) + time
  }
  let chance = ''
  for (const byte of randomBytes(RANDOM_CHARACTERS)) chance += CROCKFORD.charAt(byte & 31)
  return time + chance
}

const hex = (bytes: number) => randomBytes(bytes).toString('hex').toUpperCase()

/** Bare id of a message of our own: `3EB0` and hex, whose length differs by engine. */
export const ownBareId = (engine: Engine) => `3EB0${hex(engine === 'WEBJS' ? 9 : engine === 'GOWS' ? 10 : 8)}`
/** Bare id as an iPhone makes it. */
export const phoneBareId = () => `3A${hex(9)}`

/** `{fromMe}_{chatId}_{bareId}`, in groups followed by `_{participant}`. */
export function fullId(message: Message, chatId = message.chatId): string {
  const id = `${message.fromMe}_${chatId}_${message.bareId}`
  return message.participant === null ? id : `${id}_${message.participant}`
}

/** The bare id inside a full one, or the text itself when it is bare already. */
export function bareIdOf(id: string): string {
  const parts = id.split('_')
  return (parts.length >= 3 ? parts[2] : parts.at(-1)) ?? id
}

/** `5511…@c.us` for bare digits, everything else as it is. */
export const chatIdOf = (recipient: string) => (/^\d+$/.test(recipient) ? `${recipient}@c.us` : recipient)
export const digitsOf = (text: string) => text.replace(/[@:].*$/, '').replace(/\D/g, '')
export const isGroup = (chatId: string) => chatId.endsWith('@g.us')

/** The hidden id of a number: made up, but always the same one. */
export function lidOf(number: string): string {
  const digest = createHash('sha256').update(`lid ${number}`).digest()
  return `1${(digest.readUIntBE(0, 6) % 1e14).toString().padStart(14, '0')}@lid`
}
