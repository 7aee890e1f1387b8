import type { Fields } from './fields.ts'
import type { Settings } from './world.ts'

const LIST_MAX = 1000
const TEXTS_MAX = 500_000

export type RecordedSend = { session: string; chatId: string; endpoint: string; body: Fields; id: string }
export type Ledger = {
  /** A send passed validation and reached the engine. */
  attempted(): void
  /** A message really went out, whatever was answered. */
  accepted(send: RecordedSend, text: string | null): void
  report(withList: boolean): {
    total: number
    accepted: number
    byText: Record<string, number>
    uncounted: number
    list?: RecordedSend[]
  }
  reset(): void
}

/** Remembers what was sent, for tests that ask whether each text went out exactly once. */
export function createLedger(settings: Settings): Ledger {
  let total = 0
  let accepted = 0
  let uncounted = 0
  let byText = new Map<string, number>()
  let list: RecordedSend[] = []

  function count(text: string) {
    const before = byText.get(text)
    if (before === undefined && byText.size >= TEXTS_MAX) uncounted++
    else byText.set(text, (before ?? 0) + 1)
  }

  return {
    attempted() {
      total++
    },
    accepted(send, text) {
      accepted++
      if (settings.countSends && text) count(text)
      if (!settings.recordSends) return
      list.push(send)
      // Trimming in halves keeps the cost of one send constant.
      if (list.length >= 2 * LIST_MAX) list = list.slice(-LIST_MAX)
    },
    report(withList) {
      const figures = { total, accepted, byText: Object.fromEntries(byText), uncounted }
      return withList ? { ...figures, list: list.slice(-LIST_MAX) } : figures
    },
    reset() {
      total = 0
      accepted = 0
      uncounted = 0
      byText = new Map()
      list = []
    }
  }
}
