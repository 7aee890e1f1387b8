import { LRUCache } from 'lru-cache'
import type { Exchange } from '../official/exchange.ts'
import { parseObject, textOf } from '../official/loose-json.ts'
import type { UnofficialConnector, UnofficialLine } from '../port.ts'
import { addressOf } from './identifiers.ts'
import type { Instances } from './instances.ts'

/** Hidden ids remembered, over all sessions. */
const HIDDEN_IDS_MAX = 50_000
const FOUND_TTL_MS = 24 * 3_600_000
/** The session may learn the number at any time; a callback waits for the answer, so it is not asked at each message. */
const UNKNOWN_TTL_MS = 5 * 60_000
const WAIT_MS = 2_000

/** The numbers behind hidden ids, as far as a session knows them (`provider-unofficial`, 3). */
export function createHiddenIds(instances: Instances): Pick<UnofficialConnector, 'phoneOf'> {
  const known = new LRUCache<string, { phone: string | null }>({ max: HIDDEN_IDS_MAX })

  async function phoneOf(line: UnofficialLine, hiddenId: string): Promise<string | null> {
    const key = `${line.baseUrl}|${line.session}|${hiddenId}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered.phone
    const path = `/api/${encodeURIComponent(line.session)}/lids/${encodeURIComponent(hiddenId)}`
    const signal = AbortSignal.timeout(WAIT_MS)
    const phone = phoneIn(await instances.call(line, { method: 'GET', path, body: null, signal }))
    known.set(key, { phone }, { ttl: phone === null ? UNKNOWN_TTL_MS : FOUND_TTL_MS })
    return phone
  }

  return { phoneOf }
}

function phoneIn(exchange: Exchange): string | null {
  if (exchange.kind !== 'answered' || exchange.status !== 200) return null
  const chat = textOf(parseObject(exchange.body)?.pn)
  const phone = chat === null ? '' : addressOf(chat)
  return /^\d+$/.test(phone) ? phone : null
}
