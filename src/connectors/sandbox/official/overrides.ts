import { refuse } from './errors.ts'
import { type JsonObject, textOf } from './json.ts'
import type { Sim } from './sim.ts'
import { type Answer, success } from './wire.ts'

/** Sets a callback URL after its handshake; an empty or absent URL clears it. */
export async function setOverride(sim: Sim, body: JsonObject, set: (url: string | null) => void): Promise<Answer> {
  const url = textOf(body.override_callback_uri) ?? ''
  if (url !== '' && !(await sim.webhooks.handshake(url, textOf(body.verify_token) ?? ''))) {
    return refuse(2200, undefined, { message: '(#2200) Callback verification failed: the challenge was not answered' })
  }
  set(url === '' ? null : url)
  return success
}
