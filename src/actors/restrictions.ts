/** The platform bars a number from writing to new contacts: the flag is set wherever that shows (decisions §3, channel-service flags). */
import { streamOf } from './aggregates.ts'
import { iso } from './clock.ts'
import { type Core, now, ownCommand } from './core.ts'

/** Nobody can release the flag by hand, so one whose end the platform does not tell ends after this. */
const UNTOLD_MS = 24 * 3_600_000

export async function restrict(
  core: Core,
  channel: { readonly id: string; readonly tenantId: string },
  news: { readonly code: string; readonly until: string | null; readonly source: string; readonly trace?: string }
): Promise<void> {
  const { code, source, trace } = news
  const state = await core.aggregates.channels.read(streamOf.channel(channel.id))
  // An end that is known and not over stands, when the next failure only says that the number is still restricted.
  if (news.until === null && state.restricted?.until && state.restricted.until > now(core)) return
  const until = news.until ?? iso(core.clock.now() + UNTOLD_MS)
  const context = ownCommand(core, channel.tenantId, source, trace === undefined ? {} : { trace })
  const command = { type: 'Restrict', at: now(core), code, until } as const
  await core.aggregates.channels.ask(streamOf.channel(channel.id), command, context)
}
