import { hash } from 'node:crypto'
import type { NewEvent } from './port.ts'

/** What the first event of a stream is chained to. */
export const NO_HASH = '0'.repeat(64)

/**
 * The hash of one event, chained to the stream's previous one (decisions §8.1): lower-case hex SHA-256 of
 *
 *     <previous hash> <revision> <length of stream> <of id> <of type> <of body> <of meta>\n
 *     <stream>\n<id>\n<type>\n<body>\n<meta>
 *
 * in UTF-8, lengths counted in UTF-16 code units: no two events have the same text.
 */
export function chainHash(previous: string, stream: string, revision: number, event: NewEvent): string {
  const { id, type, body, meta } = event
  const lengths = `${stream.length} ${id.length} ${type.length} ${body.length} ${meta.length}`
  return hash('sha256', `${previous} ${revision} ${lengths}\n${stream}\n${id}\n${type}\n${body}\n${meta}`, 'hex')
}

/** Lower-case hex SHA-256 of a text. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex')
