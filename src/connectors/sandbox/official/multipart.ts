export type Part = { name: string; filename: string | undefined; mimeType: string | undefined; bytes: Buffer }

const MAX_PARTS = 20
const HEADER_END = Buffer.from('\r\n\r\n')

const attribute = (header: string, name: string) => new RegExp(`[; ]${name}="([^"]*)"`, 'i').exec(header)?.[1]

/** The parts of a multipart/form-data body; empty when the boundary is missing or the body is broken. */
export function readMultipart(body: Buffer, contentType: string): Part[] {
  const found = /boundary=(?:"([^"]+)"|([^;]+))/i.exec(contentType)
  const boundary = Buffer.from(`--${found?.[1] ?? found?.[2] ?? ''}`)
  const parts: Part[] = []
  if (!found) return parts
  let start = body.indexOf(boundary)
  while (start >= 0 && parts.length < MAX_PARTS) {
    const next = body.indexOf(boundary, start + boundary.length)
    if (next < 0) break
    const section = body.subarray(start + boundary.length + 2, next - 2)
    const split = section.indexOf(HEADER_END)
    if (split >= 0) {
      const headers = section.subarray(0, split).toString('utf8')
      const name = attribute(headers, 'name')
      if (name !== undefined) {
        parts.push({
          name,
          filename: attribute(headers, 'filename'),
          mimeType: /content-type: *([^\r\n]+)/i.exec(headers)?.[1],
          bytes: section.subarray(split + HEADER_END.length)
        })
      }
    }
    start = next
  }
  return parts
}
