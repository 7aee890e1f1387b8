/** A progress bar on stderr, for work that may take long; nothing when stderr is not a terminal. */

export type Progress = {
  /** `done` of the total that was named; events so far where there is none. */
  at(done: number): void
  /** Takes the bar off the screen. */
  end(): void
}

type Screen = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>
export type ProgressOptions = {
  readonly label: string
  /** Null when nobody knows how much there is. */
  readonly total: number | null
  readonly screen?: Screen
  readonly now?: () => number
}

const WIDTH = 24
const REDRAW_MS = 100
const WIPE = '\r\u001b[K'

export function createProgress(options: ProgressOptions): Progress {
  const { label, total, screen = process.stderr, now = Date.now } = options
  if (!screen.isTTY) return { at() {}, end() {} }
  let drawnAt = Number.NEGATIVE_INFINITY
  return {
    at(done) {
      if (now() - drawnAt < REDRAW_MS) return
      drawnAt = now()
      screen.write(`${WIPE}${label} ${bar(done, total)}`)
    },
    end: () => void screen.write(WIPE)
  }
}

function bar(done: number, total: number | null): string {
  const count = done.toLocaleString('en')
  if (!total) return `${count} events`
  const share = Math.min(1, done / total)
  const full = Math.floor(share * WIDTH)
  const percent = String(Math.floor(share * 100)).padStart(3)
  const drawing = '#'.repeat(full) + '-'.repeat(WIDTH - full)
  return `[${drawing}] ${percent}%  ${count} of ${total.toLocaleString('en')} events`
}
