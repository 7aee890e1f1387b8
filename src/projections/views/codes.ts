/** Words of a closed set as the small integers that rows and indexes keep. New words go to the end: the numbers are stored. */
import type { MessageState } from '../../domain/message-events.ts'

export type Codes<Word extends string> = {
  readonly words: readonly Word[]
  code(word: Word): number
  /** Throws when no word has the code: the row is broken. */
  word(code: number): Word
  /** The code of a word that came from outside, null when it is none of them. */
  find(text: string): number | null
}

export function codesOf<Word extends string>(words: readonly Word[]): Codes<Word> {
  const codes = new Map<string, number>(words.map((word, code) => [word, code]))
  const find = (text: string): number | null => codes.get(text) ?? null
  return {
    words,
    code(word) {
      const code = find(word)
      if (code === null) throw new Error(`no code for ${word}`)
      return code
    },
    word(code) {
      const word = words[code]
      if (word === undefined) throw new Error(`no word for code ${code}`)
      return word
    },
    find
  }
}

export const messageStates = codesOf<Exclude<MessageState, 'none'>>([
  'queued',
  'dispatching',
  'retrying',
  'indeterminate',
  'sent',
  'delivered',
  'read',
  'failed'
])
