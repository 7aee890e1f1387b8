/**
 * A server that speaks EventStoreDB's protocol over an in-memory log, as a server of version 20.10 does: no batch
 * append, no list of features, no "caught up" in subscriptions, positions in `$all` only. It keeps its log while its
 * connections drop or are refused.
 */
import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossipMessages from '@eventstore/db-client/generated/gossip_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import featureMessages from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { ServerCredentials as Credentials } from '@grpc/grpc-js'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { Faults, Method } from './faults.ts'
import { createFaults } from './faults.ts'
import type { Records } from './records.ts'
import { createRecords } from './records.ts'
import { streamsService } from './service.ts'

export type DoubleOptions = {
  /** Default: any free one. */
  readonly port?: number
  readonly tls?: { readonly key: Buffer; readonly cert: Buffer }
  /** `user:password` that every call must carry. Clients send it over TLS only. */
  readonly credentials?: string
  /** Says that it can append in batches, as servers from 21.10 on do; a batch is then never answered. */
  readonly offersBatchAppend?: boolean
}

export type Double = {
  readonly port: number
  /** Connection string without credentials. */
  readonly url: string
  readonly records: Records
  readonly faults: Faults
  /** Calls that have come, whatever became of them. */
  readonly calls: Record<Method | 'batchAppend', number>
  /** All connections end; new ones are taken at once. */
  drop(): Promise<void>
  /** All connections end, and new ones are refused. */
  refuse(): Promise<void>
  /** Ends `refuse`. */
  accept(): Promise<void>
  close(): Promise<void>
}

const HOST = '127.0.0.1'

export async function startDouble(options: DoubleOptions = {}): Promise<Double> {
  const records = createRecords()
  const faults = createFaults()
  const calls = { append: 0, tombstone: 0, delete: 0, read: 0, batchAppend: 0 }
  const { tls, credentials = null, offersBatchAppend = false } = options
  const security = tls
    ? ServerCredentials.createSsl(null, [{ private_key: tls.key, cert_chain: tls.cert }])
    : ServerCredentials.createInsecure()
  let port = options.port ?? 0
  let server: Server | null = null

  async function accept(): Promise<void> {
    if (server) return
    const created = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 })
    server = created
    const implementation = streamsService({
      records,
      faults,
      credentials,
      dropConnections: () => void drop(),
      onCall: method => void calls[method]++
    })
    const batchAppend = (): void => void calls.batchAppend++
    created.addService(streams.StreamsService, offersBatchAppend ? { ...implementation, batchAppend } : implementation)
    created.addService(gossip.GossipService, { read: (_: unknown, answer: Answered) => answer(null, cluster(port)) })
    if (offersBatchAppend)
      created.addService(features.ServerFeaturesService, {
        getSupportedMethods: (_: unknown, answer: Answered) => answer(null, supported())
      })
    port = await listen(created, port, security)
  }

  async function refuse(): Promise<void> {
    server?.forceShutdown()
    server = null
  }

  async function drop(): Promise<void> {
    await refuse()
    await accept()
  }

  await accept()
  const url = `esdb://${HOST}:${port}?tls=${tls !== undefined}`
  return { port, url, records, faults, calls, drop, refuse, accept, close: refuse }
}

type Answered = (error: null, response: object) => void

function listen(server: Server, port: number, security: Credentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`${HOST}:${port}`, security, (error, bound) => (error ? reject(error) : resolve(bound)))
  })
}

/** A cluster of one, its leader. */
function cluster(port: number): object {
  const member = new gossipMessages.MemberInfo()
  member.setInstanceId(new shared.UUID().setString('00000000-0000-4000-8000-00000000c0de'))
  member.setTimeStamp('0').setIsAlive(true).setState(gossipMessages.MemberInfo.VNodeState.LEADER)
  member.setHttpEndPoint(new gossipMessages.EndPoint().setAddress(HOST).setPort(port))
  return new gossipMessages.ClusterInfo().setMembersList([member])
}

function supported(): object {
  const method = new featureMessages.SupportedMethod()
  method.setServiceName('event_store.client.streams.streams').setMethodName('batchappend')
  return new featureMessages.SupportedMethods().setMethodsList([method]).setEventStoreServerVersion('22.10.0')
}
