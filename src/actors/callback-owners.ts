/** Whose news a part of an official callback is: of the channels of its number, or of its account, those that its signer may speak for. */
import type { OfficialCallbacks, OfficialChange } from '../connectors/port.ts'
import type { ChannelRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import { type Core, seenEverything } from './core.ts'
import type { Lines } from './lines.ts'

/** For one body and its signature. */
export type CallbackOwners = {
  /** The live one first; none when the signature is nobody's. Throws LogUnavailable when it cannot be told now. */
  of(part: OfficialChange): Promise<readonly ChannelRow[]>
  /** The default app has signed it. */
  readonly isOurs: boolean
}

export type CallbackOwnersOptions = {
  readonly core: Core
  readonly lines: Lines
  readonly officialCallbacks: OfficialCallbacks
  readonly appSecret: string | null
}

export function callbackOwners(options: CallbackOwnersOptions, body: Buffer, signature: string): CallbackOwners {
  const { core, lines, officialCallbacks, appSecret } = options
  const { views, log } = core
  const deleted = new Map<string, boolean>()
  let hasSeenEverything = false

  const isSignedWith = (secret: string | null): boolean =>
    secret !== null && officialCallbacks.verify(secret, body, signature)
  const isOurs = isSignedWith(appSecret)

  function named({ phoneNumberId, wabaId }: OfficialChange): readonly ChannelRow[] {
    if (phoneNumberId !== null) return views.channelsByPhoneNumberId(phoneNumberId)
    return wabaId === null ? [] : views.channelsOfWaba(wabaId)
  }

  /**
   * The secret of the number decides, the default app's only where the number has none of its own (decisions §6); who held
   * the number before, or shares its account, has no say for others.
   */
  async function verified(part: OfficialChange): Promise<readonly ChannelRow[]> {
    const trusted: ChannelRow[] = []
    for (const channel of named(part)) {
      const secret = await lines.appSecret(channel.id)
      if (secret === null ? isOurs : isSignedWith(secret)) trusted.push(channel)
    }
    return trusted
  }

  /** Asked of the log: the number may be another tenant's before our views hear of it. Nothing comes after a deletion. */
  async function isDeleted(channelId: string): Promise<boolean> {
    for await (const { type } of log.read(streamOf.channel(channelId), { direction: 'backwards', limit: 1 }))
      return type === 'ChannelDeleted'
    return false
  }

  /** Most callbacks bring only statuses, which find their message by its id: the log is not asked for each of these. */
  async function isCurrent({ phoneNumberId, updates }: OfficialChange, { id, state }: ChannelRow): Promise<boolean> {
    if (state === 'deleted') return false
    const isOnlyOfMessages = updates.every(({ kind }) => kind === 'status' || kind === 'ignored')
    if (phoneNumberId === null || isOnlyOfMessages) return true
    const isOver = deleted.get(id) ?? (await isDeleted(id))
    deleted.set(id, isOver)
    return !isOver
  }

  return {
    isOurs,
    async of(part) {
      const known = await verified(part)
      const [first] = known
      if (hasSeenEverything || (first && (await isCurrent(part, first)))) return known
      // The number may have been connected a moment ago. Strangers make nobody wait.
      if (!first && !isOurs) return known
      await seenEverything(core)
      hasSeenEverything = true
      return verified(part)
    }
  }
}
