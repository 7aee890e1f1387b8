/** Between the records of the double and the messages of the protocol. */
import shared from '@eventstore/db-client/generated/shared_pb.js'
import pb from '@eventstore/db-client/generated/streams_pb.js'
import type { Expectation, Proposal, StoredRecord } from './records.ts'

/** What stands in the place of a position where the server tells none. */
const NO_POSITION = '18446744073709551615'

type ExpectingOptions = {
  hasAny(): boolean
  hasStreamExists(): boolean
  hasNoStream(): boolean
  getRevision(): string
}

export function expectationOf(options: ExpectingOptions): Expectation {
  if (options.hasAny()) return 'any'
  if (options.hasStreamExists()) return 'stream_exists'
  return options.hasNoStream() ? 'no_stream' : Number(options.getRevision())
}

export const nameOf = (identifier: shared.StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString()

export function proposalOf(message: pb.AppendReq.ProposedMessage): Proposal {
  const map = message.getMetadataMap()
  return {
    id: message.getId()?.getString() ?? '',
    type: map.get('type') ?? '',
    contentType: map.get('content-type') ?? '',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8()
  }
}

export function appended(revision: number, position: number): pb.AppendResp {
  const success = new pb.AppendResp.Success()
  if (revision < 0) success.setNoStream(new shared.Empty())
  else success.setCurrentRevision(String(revision))
  const at = new pb.AppendResp.Position()
  at.setCommitPosition(String(position))
  at.setPreparePosition(String(position))
  success.setPosition(at)
  return new pb.AppendResp().setSuccess(success)
}

export function wrongExpectedVersion(expected: Expectation, current: number): pb.AppendResp {
  const wrong = new pb.AppendResp.WrongExpectedVersion()
  if (current < 0) wrong.setCurrentNoStream(new shared.Empty())
  else wrong.setCurrentRevision(String(current))
  if (expected === 'any') wrong.setExpectedAny(new shared.Empty())
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new shared.Empty())
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new shared.Empty())
  else wrong.setExpectedRevision(String(expected))
  return new pb.AppendResp().setWrongExpectedVersion(wrong)
}

/** Positions are told in reads of `$all` only. */
export function eventAppeared(record: StoredRecord, withPosition: boolean): pb.ReadResp {
  const position = withPosition ? String(record.position) : NO_POSITION
  const event = new pb.ReadResp.ReadEvent.RecordedEvent()
  event.setId(new shared.UUID().setString(record.id))
  event.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(record.stream).toString('base64')))
  event.setStreamRevision(record.revision)
  event.setCommitPosition(position)
  event.setPreparePosition(position)
  event.getMetadataMap().set('type', record.type)
  event.getMetadataMap().set('content-type', record.contentType)
  event.getMetadataMap().set('created', record.created)
  event.setData(record.data)
  event.setCustomMetadata(record.metadata)
  const read = new pb.ReadResp.ReadEvent().setEvent(event)
  if (withPosition) read.setCommitPosition(position)
  else read.setNoPosition(new shared.Empty())
  return new pb.ReadResp().setEvent(read)
}

export const streamNotFound = (identifier: shared.StreamIdentifier | undefined): pb.ReadResp =>
  new pb.ReadResp().setStreamNotFound(new pb.ReadResp.StreamNotFound().setStreamIdentifier(identifier))

export const confirmation = (id: string): pb.ReadResp =>
  new pb.ReadResp().setConfirmation(new pb.ReadResp.SubscriptionConfirmation().setSubscriptionId(id))

export function checkpoint(position: number): pb.ReadResp {
  const reached = new pb.ReadResp.Checkpoint()
  reached.setCommitPosition(String(position))
  reached.setPreparePosition(String(position))
  return new pb.ReadResp().setCheckpoint(reached)
}

/** Which records a filter lets through. A regular expression goes before prefixes. */
export function filterOf(options: pb.ReadReq.Options.FilterOptions | undefined): (record: StoredRecord) => boolean {
  if (!options) return () => true
  const onStream = options.hasStreamIdentifier()
  const expression = onStream ? options.getStreamIdentifier() : options.getEventType()
  const regex = expression?.getRegex() ? new RegExp(expression.getRegex()) : null
  const prefixes = expression?.getPrefixList() ?? []
  return record => {
    const text = onStream ? record.stream : record.type
    return regex ? regex.test(text) : prefixes.some(prefix => text.startsWith(prefix))
  }
}
