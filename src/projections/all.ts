/** All projections of the service, in the order in which they read an event. */
import type { Projection } from './port.ts'
import { attemptsProjection } from './views/attempts.ts'
import { auditProjection } from './views/audit.ts'
import { channelsProjection } from './views/channels.ts'
import { destinationsProjection } from './views/destinations.ts'
import { dispatchQueueProjection } from './views/dispatch-queue.ts'
import { heldReportsProjection } from './views/held-reports.ts'
import { keysProjection } from './views/keys.ts'
import { messagesProjection } from './views/messages.ts'
import { optOutsProjection } from './views/opt-outs.ts'
import { outboxProjection } from './views/outbox.ts'
import { placesProjection } from './views/places.ts'
import { templatesProjection } from './views/templates.ts'
import { todoProjection } from './views/todo.ts'

export const projections: readonly Projection[] = [
  messagesProjection,
  dispatchQueueProjection,
  outboxProjection,
  channelsProjection,
  auditProjection,
  keysProjection,
  destinationsProjection,
  attemptsProjection,
  heldReportsProjection,
  placesProjection,
  todoProjection,
  optOutsProjection,
  templatesProjection
]
