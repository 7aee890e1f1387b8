/** The Streams service of a server of version 20.10: what it does not have, it answers as not implemented. */
import shared from '@eventstore/db-client/generated/shared_pb.js'
import pb from '@eventstore/db-client/generated/streams_pb.js'
import type { Metadata, ServerReadableStream, UntypedServiceImplementation } from '@grpc/grpc-js'
import { status } from '@grpc/grpc-js'
import type { Fault, Faults, Method, RpcError } from './faults.ts'
import {
  maximumAppendSizeExceeded,
  notLeader,
  rpcError,
  streamDeleted,
  unauthenticated,
  wrongExpectedVersion as wrongVersionError
} from './faults.ts'
import { appended, expectationOf, nameOf, proposalOf, wrongExpectedVersion } from './messages.ts'
import type { ReadCall } from './reading.ts'
import { fail, read } from './reading.ts'
import type { Expectation, Outcome, Records } from './records.ts'

/** The server's default limit of one append's data. */
const MAX_APPEND_BYTES = 1_048_576

export type ServiceOptions = {
  readonly records: Records
  readonly faults: Faults
  /** `user:password`; null: nobody is asked. */
  readonly credentials: string | null
  readonly dropConnections: () => void
  readonly onCall: (method: Method) => void
}

type Answer<T> = (error: RpcError | null, response?: T) => void

export function streamsService(options: ServiceOptions): UntypedServiceImplementation {
  const { records, faults, onCall } = options

  /** Runs a call that changes something, as the next fault wants it. */
  function change<T>(method: Method, metadata: Metadata, work: () => T | RpcError, answer: Answer<T>) {
    onCall(method)
    if (!isAllowed(options, metadata)) return answer(unauthenticated())
    const fault = faults.take(method)
    const before = fault && errorBefore(fault)
    if (before) return answer(before)
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'late') return void setTimeout(work, fault.delayMs)
    const result = work()
    if (fault?.kind === 'lose') return
    if (fault?.kind === 'drop') return options.dropConnections()
    if (fault?.kind === 'fail') return answer(rpcError(fault.code, 'injected'))
    const reply = (): void => (isError(result) ? answer(result) : answer(null, result))
    if (faults.delayMs > 0) setTimeout(reply, faults.delayMs)
    else reply()
  }

  function append(call: ServerReadableStream<pb.AppendReq, pb.AppendResp>, answer: Answer<pb.AppendResp>): void {
    const requests: pb.AppendReq[] = []
    call.on('data', (request: pb.AppendReq) => requests.push(request))
    call.on('error', () => undefined)
    call.on('end', () => {
      if (!call.cancelled) change('append', call.metadata, () => appendAll(records, requests), answer)
    })
  }

  return {
    append,
    tombstone(call: { request: pb.TombstoneReq; metadata: Metadata }, answer: Answer<pb.TombstoneResp>): void {
      const asked = call.request.getOptions()
      const name = nameOf(asked?.getStreamIdentifier())
      const expected: Expectation = asked ? expectationOf(asked) : 'any'
      const work = () => {
        const outcome = records.tombstone(name, expected)
        if (outcome.kind !== 'written') return refusal(name, expected, outcome)
        const position = new pb.TombstoneResp.Position()
        position.setCommitPosition(String(outcome.position)).setPreparePosition(String(outcome.position))
        return new pb.TombstoneResp().setPosition(position)
      }
      change('tombstone', call.metadata, work, answer)
    },
    delete(call: { request: pb.DeleteReq; metadata: Metadata }, answer: Answer<pb.DeleteResp>): void {
      const asked = call.request.getOptions()
      const name = nameOf(asked?.getStreamIdentifier())
      const expected: Expectation = asked ? expectationOf(asked) : 'any'
      const work = () => {
        const outcome = records.remove(name, expected)
        if (outcome.kind !== 'written') return refusal(name, expected, outcome)
        return new pb.DeleteResp().setNoPosition(new shared.Empty())
      }
      change('delete', call.metadata, work, answer)
    },
    read(call: ReadCall) {
      onCall('read')
      if (!isAllowed(options, call.metadata)) return fail(call, unauthenticated())
      const fault = faults.take('read')
      const before = fault && errorBefore(fault)
      if (before) return fail(call, before)
      if (fault?.kind === 'hang' || fault?.kind === 'lose') return
      if (fault?.kind === 'drop') return options.dropConnections()
      if (faults.delayMs > 0) setTimeout(() => void read(call, records), faults.delayMs)
      else void read(call, records)
    }
  }
}

function appendAll(records: Records, requests: readonly pb.AppendReq[]): pb.AppendResp | RpcError {
  const [first, ...rest] = requests
  const options = first?.getOptions()
  if (!options) return rpcError(status.INVALID_ARGUMENT, 'the first message has no options')
  const name = nameOf(options.getStreamIdentifier())
  const expected = expectationOf(options)
  const proposals = rest.flatMap(request => {
    const message = request.getProposedMessage()
    return message ? [proposalOf(message)] : []
  })
  const size = proposals.reduce((sum, { data }) => sum + data.length, 0)
  if (size > MAX_APPEND_BYTES) return maximumAppendSizeExceeded(MAX_APPEND_BYTES)
  const outcome = records.append(name, expected, proposals)
  if (outcome.kind === 'deleted') return streamDeleted(name)
  if (outcome.kind === 'wrong') return wrongExpectedVersion(expected, outcome.current)
  return appended(outcome.revision, outcome.position)
}

function refusal(name: string, expected: Expectation, outcome: Exclude<Outcome, { kind: 'written' }>): RpcError {
  return outcome.kind === 'deleted' ? streamDeleted(name) : wrongVersionError(name, String(expected), outcome.current)
}

function errorBefore(fault: Fault): RpcError | null {
  if (fault.kind === 'not-leader') return notLeader(fault.host, fault.port)
  return fault.kind === 'fail' && !fault.afterwards ? rpcError(fault.code, 'injected') : null
}

function isAllowed({ credentials, faults }: ServiceOptions, metadata: Metadata): boolean {
  if (faults.isDenying) return false
  if (credentials === null) return true
  return metadata.get('authorization')[0] === `Basic ${Buffer.from(credentials).toString('base64')}`
}

const isError = (result: unknown): result is RpcError =>
  typeof result === 'object' && result !== null && 'code' in result && 'details' in result
