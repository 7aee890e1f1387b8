import { z } from 'zod'
import { isKeyStream } from './key-streams.ts'
import type { FoundEvent, VerifySource } from './verify-source.ts'

export type ExportOptions = {
  readonly format: 'ndjson' | 'csv'
  readonly stream?: string
  readonly type?: string
  /** ISO 8601 UTC: events recorded then or later. */
  readonly since?: string
  readonly onProgress?: (events: number) => void
}

const CSV_COLUMNS = ['position', 'stream', 'streamNo', 'revision', 'id', 'type', 'at', 'hash', 'body', 'meta']
const Meta = z.object({ at: z.string() })

/**
 * The log as lines without their ends. Of key streams and erased ones an export has position, number, revision and hash
 * only, so that `log verify` can still check it; a filtered export leaves them out, and so does every export where anchors
 * do not cover them.
 */
export async function* exportLines(source: VerifySource, options: ExportOptions): AsyncGenerator<string> {
  const { format, stream, onProgress } = options
  const line = format === 'csv' ? csvLine : jsonLine
  const isWanted = filterOf(options)
  let count = 0
  if (format === 'csv') yield CSV_COLUMNS.join(',')
  for await (const page of source.events(0, stream)) {
    for (const event of page) {
      if (!source.anchorsCoverKeys && isKey(event)) continue
      const shown = isKey(event) ? { ...event, content: null } : event
      if (isWanted(shown)) yield line(shown)
    }
    count += page.length
    onProgress?.(count)
  }
}

const isKey = ({ content }: FoundEvent): boolean => content !== null && isKeyStream(content.stream)

function filterOf({ stream, type, since }: ExportOptions): (event: FoundEvent) => boolean {
  if (stream === undefined && type === undefined && since === undefined) return () => true
  return ({ content }) => {
    if (content === null) return false
    if (type !== undefined && content.type !== type) return false
    return since === undefined || Date.parse(recordedAt(content.meta)) >= Date.parse(since)
  }
}

/** Broker time of an event, '' when its metadata has none. */
function recordedAt(meta: string): string {
  try {
    return Meta.safeParse(JSON.parse(meta)).data?.at ?? ''
  } catch {
    return ''
  }
}

function jsonLine({ content, position, streamNo, revision, hash }: FoundEvent): string {
  return JSON.stringify({ position, streamNo, revision, hash, ...content })
}

function csvLine({ content, position, streamNo, revision, hash }: FoundEvent): string {
  const { stream = '', id = '', type = '', body = '', meta = '' } = content ?? {}
  return [position, stream, streamNo, revision, id, type, recordedAt(meta), hash, body, meta].map(csvField).join(',')
}

function csvField(value: string | number): string {
  const text = String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
