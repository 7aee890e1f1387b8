import type { App } from '../app-types.ts'
import type { BodyLimits } from '../body.ts'
import type { ServiceDoors } from '../ports.ts'
import { attempts } from './attempts.ts'
import { changeChannel } from './change-channel.ts'
import { compliance } from './compliance.ts'
import { createChannel } from './create-channel.ts'
import { deliveries } from './deliveries.ts'
import { destinations } from './destinations.ts'
import { keys } from './keys.ts'
import { listMessages } from './list-messages.ts'
import { media } from './media.ts'
import { readChannels } from './read-channels.ts'
import { releaseChannel } from './release-channel.ts'
import { renotify } from './renotify.ts'
import { sendBatch } from './send-batch.ts'
import { sendMessage } from './send-message.ts'
import { templates } from './templates.ts'
import { trackMessage } from './track-message.ts'

/** All routes behind a Bearer key. */
export function channelRoutes(app: App, doors: ServiceDoors, limits: BodyLimits, now: () => number): void {
  sendMessage(app, doors)
  sendBatch(app, doors, limits.batch)
  trackMessage(app, doors)
  listMessages(app, doors)
  renotify(app, doors)
  createChannel(app, doors)
  readChannels(app, doors)
  changeChannel(app, doors)
  releaseChannel(app, doors)
  attempts(app, doors)
  media(app, doors)
  templates(app, doors)
  destinations(app, doors)
  deliveries(app, doors)
  compliance(app, doors)
  keys(app, doors, now)
}
