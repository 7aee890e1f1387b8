import { z } from 'zod'
import type { FoundEvent, VerifySource } from './verify-source.ts'

const PAGE_LINES = 500

const Line = z.object({ position: z.int(), streamNo: z.int(), revision: z.int(), hash: z.string() })
const Content = z.object({ stream: z.string(), id: z.string(), type: z.string(), body: z.string(), meta: z.string() })

/**
 * An export (ndjson, not filtered) as something to verify. `lines` is asked anew for each pass. An export keeps no books:
 * what was cut off its end shows only with the anchors that were kept elsewhere.
 */
export function openExport(lines: () => AsyncIterable<string>): VerifySource {
  let isRead = false
  return {
    // Whether positions have gaps depends on the log that it came from.
    dense: false,
    // What anchors leave out is not in an export.
    anchorsCoverKeys: true,
    highest: () => null,
    async *events(_after, stream) {
      // A verification reads on after freezing; an export has nothing newer.
      if (isRead) return
      let page: FoundEvent[] = []
      for await (const line of lines()) {
        const event = parse(line)
        if (event === null) {
          yield page
          throw new Error('this line is not an event')
        }
        if (stream !== undefined && event.content?.stream !== stream) continue
        page.push(event)
        if (page.length < PAGE_LINES) continue
        yield page
        page = []
      }
      if (page.length > 0) yield page
    },
    streams: () => [],
    freeze() {
      isRead = true
    },
    complaints: () => [],
    close() {}
  }
}

/** The event of a line; null when it is none. */
function parse(text: string): FoundEvent | null {
  try {
    const json: unknown = JSON.parse(text)
    const event = Line.parse(json)
    return { ...event, content: typeof json === 'object' && json && 'stream' in json ? Content.parse(json) : null }
  } catch {
    return null
  }
}
