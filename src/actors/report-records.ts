/** What reports leave in the log: a step of their message, or a line in the inbox of their channel. */
import type { Report } from '../domain/message.ts'
import type { ReportHeld, ReportSettled } from '../domain/record.ts'
import { LogUnavailable, NO_STREAM } from '../log/port.ts'
import type { ChannelRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import { type Core, isPassing, now, ownCommand, record } from './core.ts'

type Place = Pick<ChannelRow, 'id' | 'tenantId'>

/** Whose message it was told of, as far as that is known; null when there is no such message, or it is another number's. Throws LogUnavailable. */
export async function recordReport(
  core: Core,
  channel: Place,
  messageId: string,
  report: Report,
  trace: string | null
): Promise<{ readonly contactId: string | null } | null> {
  const context = ownCommand(core, channel.tenantId, 'callback', { trace })
  const command = { type: 'RecordReport', at: now(core), channelId: channel.id, report } as const
  const outcome = await core.aggregates.messages.ask(streamOf.message(messageId), command, context)
  if (!outcome.ok && isPassing(outcome.code)) throw new LogUnavailable(`report not recorded: ${outcome.code}`)
  if (outcome.ok) return { contactId: outcome.state.contactId }
  return outcome.code === 'resource_not_found' ? null : { contactId: null }
}

/**
 * Throws LogUnavailable. The inbox has many writers and no state to decide on: a conflict only says where its end is.
 */
export async function appendToInbox(
  core: Core,
  channel: Place,
  event: ReportHeld | ReportSettled,
  trace: string | null
): Promise<void> {
  const stream = streamOf.inbox(channel.id)
  const context = ownCommand(core, channel.tenantId, 'callback', { trace })
  let expected = NO_STREAM
  for (;;) {
    const result = await record(core, stream, expected, [event], context)
    if (result.kind === 'appended') return
    if (result.kind !== 'conflict') throw new LogUnavailable(`report not held: ${result.kind}`)
    expected = result.revision
  }
}
