/**
 * Unofficial numbers hear more and more people under hidden ids (`<digits>@lid`). Who is known by a phone number goes by
 * that; only where nobody can tell it the hidden id stays (decisions §7).
 */
import type { UnofficialConnector } from '../connectors/port.ts'
import type { ChannelRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import type { Core } from './core.ts'
import type { InboundUpdate } from './inbound.ts'
import type { Lines } from './lines.ts'

export type HiddenIds = {
  /** The message with its sender by phone number, and by hidden id beside it, where that can be found out. */
  revealed(channel: ChannelRow, update: InboundUpdate): Promise<InboundUpdate>
}

export function createHiddenIds(core: Core, lines: Lines, unofficial: Pick<UnofficialConnector, 'phoneOf'>): HiddenIds {
  async function phoneOf(channel: ChannelRow, hiddenId: string): Promise<string | null> {
    const known = await core.keyring.findContact(channel.tenantId, hiddenId)
    if (known && /^\d+$/.test(known.address)) return known.address
    const line = await lines.of(await core.aggregates.channels.read(streamOf.channel(channel.id)))
    return line?.kind === 'unofficial' ? unofficial.phoneOf(line, hiddenId) : null
  }

  return {
    async revealed(channel, update) {
      if (channel.kind !== 'unofficial' || !update.from.endsWith('@lid')) return update
      const phone = await phoneOf(channel, update.from)
      return phone === null ? update : { ...update, from: phone, alias: update.from }
    }
  }
}
