/** A log on disk with anchors, whose time and writing the test owns. */
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import type { AnchorKeeper } from '../../src/log/anchor-keeper.ts'
import { createAnchorKeeper } from '../../src/log/anchor-keeper.ts'
import { ANCHOR_STREAM, createAnchorSigner } from '../../src/log/anchors.ts'
import type { Clock } from '../../src/log/clock.ts'
import type { NewEvent } from '../../src/log/port.ts'
import type { Writer } from '../../src/log/sqlite/writer.ts'
import { openWriter } from '../../src/log/sqlite/writer.ts'

export type ManualClock = Clock & {
  /** Moves time on and runs what is due. */
  tick(milliseconds: number): void
}

export function manualClock(start = Date.UTC(2024, 4, 1)): ManualClock {
  let now = start
  let timers: { at: number; run: () => void }[] = []
  return {
    now: () => now,
    after(delayMs, run) {
      const timer = { at: now + delayMs, run }
      timers.push(timer)
      return () => {
        timers = timers.filter(other => other !== timer)
      }
    },
    tick(milliseconds) {
      now += milliseconds
      const due = timers.filter(({ at }) => at <= now)
      timers = timers.filter(({ at }) => at > now)
      for (const { run } of due) run()
    }
  }
}

export type AnchorKeys = { readonly privateKey: string; readonly publicKey: string }

export function anchorKeys(): AnchorKeys {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  }
}

export type AnchoredLog = {
  readonly writer: Writer
  readonly clock: ManualClock
  readonly lines: string[]
  readonly keeper: AnchorKeeper
  append(stream: string, ...events: NewEvent[]): void
  /** Anchors everything that is not anchored yet, as an orderly end of the service does. */
  anchor(): Promise<void>
}

export function openAnchoredLog(dataDir: string, { privateKey }: AnchorKeys): AnchoredLog {
  const writer = openWriter({ file: join(dataDir, 'log.db') })
  const clock = manualClock()
  const lines: string[] = []
  const revisions = new Map<string, number>()
  const keeper = createAnchorKeeper({
    log: {
      hashes: writer.reader.hashes,
      waiting: after => writer.reader.head() - after,
      newestAnchor: () => writer.reader.newest(ANCHOR_STREAM),
      append: async (stream, expected, events) => {
        const [result] = writer.commit([{ stream, expected, events }])
        if (!result || result.kind === 'unavailable') throw new Error('a commit answers every append')
        keeper.grown()
        return result
      }
    },
    newest: writer.reader.newest(ANCHOR_STREAM),
    signer: createAnchorSigner(privateKey),
    clock,
    onAnchor: line => lines.push(line),
    onProblem: error => {
      throw error
    }
  })
  return {
    writer,
    clock,
    lines,
    keeper,
    append(stream, ...events) {
      const expected = revisions.get(stream) ?? writer.reader.newest(stream)?.revision ?? -1
      const [result] = writer.commit([{ stream, expected, events }])
      if (result?.kind !== 'appended') throw new Error(`the append ended as ${result?.kind}`)
      revisions.set(stream, result.revision)
      keeper.grown()
    },
    anchor: () => keeper.close()
  }
}
