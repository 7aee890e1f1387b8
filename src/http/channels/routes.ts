import type { App } from '../app-types.ts'
import type { ServiceDoors } from '../ports.ts'
import { attempts } from './attempts.ts'
import { changeChannel } from './change-channel.ts'
import { createChannel } from './create-channel.ts'
import { deliveries } from './deliveries.ts'
import { destinations } from './destinations.ts'
import { keys } from './keys.ts'
import { readChannels } from './read-channels.ts'
import { sendMessage } from './send-message.ts'
import { trackMessage } from './track-message.ts'

/** All routes behind a Bearer key. */
export function channelRoutes(app: App, doors: ServiceDoors, now: () => number): void {
  sendMessage(app, doors)
  trackMessage(app, doors)
  createChannel(app, doors)
  readChannels(app, doors)
  changeChannel(app, doors)
  attempts(app, doors)
  destinations(app, doors)
  deliveries(app, doors)
  keys(app, doors, now)
}
