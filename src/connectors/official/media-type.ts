/** The types that both platforms document; a link says no more about its content than its ending. */
const TYPE_BY_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['mp4', 'video/mp4'],
  ['m4v', 'video/mp4'],
  ['3gp', 'video/3gpp'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
  ['ogg', 'audio/ogg; codecs=opus'],
  ['oga', 'audio/ogg; codecs=opus'],
  ['opus', 'audio/ogg; codecs=opus'],
  ['mp3', 'audio/mpeg'],
  ['m4a', 'audio/mp4'],
  ['aac', 'audio/aac'],
  ['amr', 'audio/amr'],
  ['wav', 'audio/wav'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['csv', 'text/csv'],
  ['zip', 'application/zip'],
  ['doc', 'application/msword'],
  ['xls', 'application/vnd.ms-excel'],
  ['ppt', 'application/vnd.ms-powerpoint'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation']
])

/** MIME type that a file name or link suggests by its ending, null when it suggests none. */
export function mediaTypeOf(name: string): string | null {
  const extension = /\.([0-9a-z]{1,5})$/i.exec(fileNameOf(name) ?? '')?.[1]
  return extension === undefined ? null : (TYPE_BY_EXTENSION.get(extension.toLowerCase()) ?? null)
}

/** Last part of a link's path, or of a bare file name; null when there is none. */
export function fileNameOf(link: string): string | null {
  const path = /^[^?#]*/.exec(link)?.[0] ?? ''
  const last = path
    .replace(/^https?:\/\/[^/]*/i, '')
    .split('/')
    .pop()
  if (last === undefined || last === '') return null
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}
