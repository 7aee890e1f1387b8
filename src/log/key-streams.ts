const PREFIX = 'keys-'

/** Streams that hold wrapped keys. They alone can be erased, and no export holds them. */
export const isKeyStream = (stream: string): boolean => stream.startsWith(PREFIX)
