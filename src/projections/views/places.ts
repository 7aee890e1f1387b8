/** Sessions of unofficial numbers and where they are hosted: from the start of the attempt to its end, or to the number's. */
import type { AttemptEvent } from '../../domain/attempt.ts'
import type { ChannelEvent } from '../../domain/channel.ts'
import type { Projection, RecordedOf, Table } from '../port.ts'
import { attemptIdOf, channelIdOf } from './stream-ids.ts'

/** `position`: of the attempt's start. The number that it becomes keeps it: who came first has the place. */
export const places: Table = {
  name: 'places',
  columns: { session: 'TEXT', baseUrl: 'TEXT', position: 'INTEGER' },
  keyLength: 1,
  indexes: ['(baseUrl, position)'],
  withoutRowid: true
}

/** The session of a live number; its name is the attempt's id. */
export const placedChannels: Table = {
  name: 'placed_channels',
  columns: { channelId: 'TEXT', session: 'TEXT' },
  keyLength: 1,
  indexes: [],
  withoutRowid: true
}

type Handled = AttemptEvent | Extract<ChannelEvent, { type: 'ChannelConnected' | 'ChannelDeleted' }>

export const placesProjection: Projection = {
  name: 'places',
  version: 1,
  tables: [places, placedChannels],
  handles: [
    'AttemptStarted',
    'AttemptFailed',
    'AttemptExpired',
    'AttemptCancelled',
    'ChannelConnected',
    'ChannelDeleted'
  ],
  apply(recorded, rows) {
    const event = recorded as RecordedOf<Handled>
    switch (event.type) {
      case 'AttemptStarted': {
        const { name, baseUrl } = event.data.session
        return rows.put(places, { session: name, baseUrl, position: event.position })
      }
      case 'ChannelConnected': {
        const { channelId, session } = event.data
        if (session) rows.put(placedChannels, { channelId, session: session.name })
        return
      }
      case 'ChannelDeleted': {
        const channelId = channelIdOf(event.stream)
        const placed = rows.get<{ channelId: string; session: string }>(placedChannels, [channelId])
        if (!placed) return
        rows.delete(places, [placed.session])
        return rows.delete(placedChannels, [channelId])
      }
      default:
        return rows.delete(places, [attemptIdOf(event.stream)])
    }
  }
}
