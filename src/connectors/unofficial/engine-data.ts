import { isObject, type Loose, numberOf, objectOf, textOf } from '../official/loose-json.ts'
import { addressOf, isHiddenId } from './identifiers.ts'

/** Wrappers stand around a message three deep at most in practice. */
const WRAPPERS_MAX = 4
const WRAPPER = /^(ephemeral|viewOnce|documentWithCaption|deviceSent).*message/i

/**
 * A member by its name without regard to capitals, which the engines spell differently; null counts as absent.
 * The exact spelling is tried first.
 */
export function member(node: Loose, name: string): unknown {
  const exact = node[name]
  if (exact !== undefined && exact !== null) return exact
  const wanted = name.toLowerCase()
  const key = Object.keys(node).find(candidate => candidate.toLowerCase() === wanted && node[candidate] != null)
  return key === undefined ? undefined : node[key]
}

/** The protobuf message of NOWEB and GOWS without its wrappers; empty for WEBJS. */
export function protoOf(data: Loose): Loose {
  let proto = objectOf(member(data, 'message'))
  for (let depth = 0; depth < WRAPPERS_MAX; depth += 1) {
    const wrapper = Object.keys(proto).find(key => WRAPPER.test(key) && isObject(proto[key]))
    const inner = wrapper === undefined ? undefined : member(objectOf(proto[wrapper]), 'message')
    if (!isObject(inner)) break
    proto = inner
  }
  return proto
}

/** The sender's own name for themselves, where each engine keeps it. */
export function pushNameOf(data: Loose): string | null {
  return textOf(data.pushName) ?? textOf(objectOf(data.Info).PushName) ?? textOf(data.notifyName)
}

/** The other identity of a 1:1 sender (hidden id for a phone, or phone for a hidden id), null when not told. */
export function aliasOf(data: Loose, address: string): string | null {
  const key = objectOf(data.key)
  const info = objectOf(data.Info)
  const candidates = [key.remoteJidAlt, key.participantAlt, info.SenderAlt, info.Sender, info.Chat]
  for (const candidate of candidates) {
    const alias = textOf(candidate) === null ? null : addressOf(String(candidate))
    if (alias === null || alias === address) continue
    if (/^\d+(@lid)?$/.test(alias) && isHiddenId(alias) !== isHiddenId(address)) return alias
  }
  return null
}

const MEDIA_NODE = /^(image|video|audio|document|sticker|ptv)message$/i

/** What the engine says of an attachment besides the file itself. */
export type MediaFacts = {
  readonly type: string | null
  readonly mimeType: string | null
  readonly filename: string | null
  readonly fileSize: number | null
}

/** Facts of the media node: `type` is its kind in lower case (`image`, `sticker`, `ptt`, …). */
export function mediaFactsOf(data: Loose): MediaFacts {
  const proto = protoOf(data)
  const name = Object.keys(proto).find(key => MEDIA_NODE.test(key) && isObject(proto[key]))
  // WEBJS has one flat object in place of nodes.
  const node = name === undefined ? data : objectOf(proto[name])
  const size = member(node, 'fileLength') ?? member(node, 'size')
  return {
    type: name === undefined ? textOf(data.type) : name.toLowerCase().replace('message', ''),
    mimeType: textOf(member(node, 'mimetype')),
    filename: textOf(member(node, 'fileName')),
    fileSize: numberOf(size)
  }
}
