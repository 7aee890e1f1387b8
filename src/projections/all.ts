/** All projections of the service, in the order in which they read an event. */
import type { Projection } from './port.ts'
import { attemptsProjection } from './views/attempts.ts'
import { auditProjection } from './views/audit.ts'
import { channelsProjection } from './views/channels.ts'
import { contactsProjection } from './views/contacts.ts'
import { destinationsProjection } from './views/destinations.ts'
import { dispatchQueueProjection } from './views/dispatch-queue.ts'
import { heldReportsProjection } from './views/held-reports.ts'
import { keysProjection } from './views/keys.ts'
import { messagesProjection } from './views/messages.ts'
import { outboxProjection } from './views/outbox.ts'
import { todoProjection } from './views/todo.ts'

export const projections: readonly Projection[] = [
  messagesProjection,
  dispatchQueueProjection,
  outboxProjection,
  channelsProjection,
  auditProjection,
  keysProjection,
  destinationsProjection,
  contactsProjection,
  attemptsProjection,
  heldReportsProjection,
  todoProjection
]
