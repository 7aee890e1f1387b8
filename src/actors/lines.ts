/** How a number is reached: its address and credentials, opened from its stream and kept while they are current. */
import { LRUCache } from 'lru-cache'
import type { Engine, OfficialLine, UnofficialLine } from '../connectors/port.ts'
import type { Channel, ChannelEvent, ChannelSecrets } from '../domain/channel.ts'
import { decode } from '../log/codec.ts'
import { streamOf } from './aggregates.ts'
import { type Core, unseal } from './core.ts'

export type Line = OfficialLine | UnofficialLine
export type Lines = {
  /** Null when the number has no credentials to be reached with. */
  of(channel: Channel): Promise<Line | null>
  /** The number's own app secret, for its callbacks; null: the default app's. */
  appSecret(channelId: string): Promise<string | null>
}

const LINES_MAX = 10_000

export function createLines(core: Core, poolKey: (baseUrl: string) => string | null): Lines {
  const secrets = new LRUCache<string, { generation: number; value: Promise<ChannelSecrets> }>({ max: LINES_MAX })

  /** Many sends may ask at once when a number gets its credentials: they are read once. */
  function secretsOf({ id, secretsGeneration: generation }: Channel): Promise<ChannelSecrets> {
    const held = secrets.get(id)
    if (held?.generation === generation) return held.value
    const value = readSecrets(id)
    secrets.set(id, { generation, value })
    value.catch(() => {
      if (secrets.get(id)?.value === value) secrets.delete(id)
    })
    return value
  }

  async function readSecrets(channelId: string): Promise<ChannelSecrets> {
    let value: ChannelSecrets = {}
    for await (const recorded of core.log.read(streamOf.channel(channelId))) {
      const event = decode<ChannelEvent>(recorded)
      if (event.ciphertext === null) continue
      value = { ...value, ...(await unseal<ChannelSecrets>(core, event)) }
    }
    return value
  }

  return {
    async of(channel) {
      const known = await secretsOf(channel)
      if (channel.kind === 'official') {
        const { phoneNumberId, wabaId } = channel
        if (phoneNumberId === null || wabaId === null || known.accessToken === undefined) return null
        return { kind: 'official', phoneNumberId, wabaId, accessToken: known.accessToken }
      }
      if (channel.session === null) return null
      const { baseUrl, name, engine, own } = channel.session
      const apiKey = own ? (known.instanceApiKey ?? null) : poolKey(baseUrl)
      return { kind: 'unofficial', baseUrl, apiKey, session: name, engine: engine as Engine }
    },
    async appSecret(channelId) {
      const channel = await core.aggregates.channels.read(streamOf.channel(channelId))
      return channel.state === 'none' ? null : ((await secretsOf(channel)).platformAppSecret ?? null)
    }
  }
}
