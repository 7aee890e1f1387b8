/** The sandbox: both platforms simulated over real HTTP on loopback ports, so that the first start needs nothing else. */
import { randomBytes } from 'node:crypto'
import { startOfficialSimulator } from '../connectors/sandbox/official/server.ts'
import { startUnofficialSimulator } from '../connectors/sandbox/unofficial/server.ts'
import type { Platforms } from './platforms.ts'

export type Sandbox = {
  readonly platforms: Omit<Platforms, 'publicUrl'>
  /** Addresses of the simulators, for the banner. */
  readonly official: string
  readonly unofficial: string
  /** Tells the official platform where its news goes. */
  callBack(publicUrl: string): Promise<void>
  close(): Promise<void>
}

/** The number that the demo tenant finds connected, and the credentials that the sandbox accepts for it. */
export const DEMO_NUMBER = {
  wabaId: '200000000000001',
  phoneNumberId: '100000000000001',
  displayNumber: '+55 11 90000-0001',
  accessToken: 'sandbox-token'
} as const

/** A made-up phone scans every QR after this time. */
const SCAN_AFTER_MS = 3_000
const CAPACITY = 50
/** A receiver on this machine is what a first try has; nothing else is made reachable. */
const LOOPBACK = ['127.0.0.0/8', '::1/128']

/** `secret`: root of the sandbox's own secrets; the same at every start, for the log remembers numbers of the sandbox. */
export async function startSandbox(secret: Buffer): Promise<Sandbox> {
  const appSecret = secret.toString('hex')
  const verifyToken = randomBytes(16).toString('hex')
  const { wabaId, phoneNumberId, displayNumber, accessToken } = DEMO_NUMBER
  const official = await startOfficialSimulator({
    appSecret,
    verifyToken,
    seed: {
      wabas: [
        {
          id: wabaId,
          name: 'Sandbox',
          numbers: [{ id: phoneNumberId, displayNumber, verifiedName: 'Ledgerline Sandbox' }]
        }
      ],
      tokens: [{ token: accessToken, wabas: 'all' }]
    }
  })
  const apiKey = randomBytes(16).toString('hex')
  const unofficial = await startUnofficialSimulator({ apiKey, engine: 'NOWEB', autoScan: { afterMs: SCAN_AFTER_MS } })
  return {
    platforms: {
      officialBaseUrl: official.graphUrl,
      appSecret,
      verifyToken,
      reachableCidrs: LOOPBACK,
      pool: [{ baseUrl: unofficial.url, apiKey, engine: 'noweb', capacity: CAPACITY }]
    },
    official: official.url,
    unofficial: unofficial.url,
    async callBack(publicUrl) {
      const answer = await fetch(`${official.url}/_control/callback`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ url: `${publicUrl}/webhooks/official`, verify: true })
      })
      const { verified } = (await answer.json()) as { verified?: boolean }
      if (verified !== true) throw new Error('the sandbox could not verify the callback address')
    },
    async close() {
      await Promise.all([official.close(), unofficial.close()])
    }
  }
}
