const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/
const KEY_MAX = 64

/** `messages[3].content.text`: how `details[].path` names a place in a body. Deep paths are cut. */
export function formatPath(path: readonly PropertyKey[]): string {
  let out = ''
  for (const key of path.slice(0, 16)) {
    if (typeof key === 'number') out += `[${key}]`
    else if (PLAIN_KEY.test(String(key))) out += out === '' ? String(key) : `.${String(key)}`
    else out += `[${JSON.stringify(String(key).slice(0, KEY_MAX))}]`
  }
  return out
}
