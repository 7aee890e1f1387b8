/** Ids out of stream names: `channel-ch_…` and its kin. */

export const channelIdOf = (stream: string): string => stream.slice('channel-'.length)
export const attemptIdOf = (stream: string): string => stream.slice('attempt-'.length)
export const destinationIdOf = (stream: string): string => stream.slice('destination-'.length)
export const tenantIdOf = (stream: string): string => stream.slice('tenant-'.length)
