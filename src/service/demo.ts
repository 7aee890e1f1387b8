/** The first start in the sandbox: a tenant `demo` with a key that is shown once, and a number to send from. */

import { DEMO_NUMBER } from './sandbox.ts'
import type { Service } from './service.ts'

export type Demo = {
  /** Null when an earlier start has made and shown it. */
  readonly apiKey: string | null
  readonly number: string
}

const TENANT = 'demo'

export async function prepareDemo(service: Service): Promise<Demo> {
  const number = DEMO_NUMBER.displayNumber.replace(/\D/g, '')
  const { phoneNumberId, wabaId, accessToken } = DEMO_NUMBER
  if (service.hasNumber(phoneNumberId)) return { apiKey: null, number }
  // The number comes last: a start that was cut off before it makes another key, and shows it.
  const issued = await service.keys.issue(TENANT, { name: 'first start' })
  if (!issued.ok) throw new Error(`the demo tenant could not be made: ${issued.code}`)
  const { tenantId, apiKey } = issued.value
  const made = await service.numbers.createOfficial(
    { tenantId, trace: service.newTrace() },
    { label: 'Sandbox number', credentials: { phoneNumberId, wabaId, accessToken } }
  )
  if (!made.ok) throw new Error(`the demo number could not be connected: ${made.code}`)
  return { apiKey, number }
}
