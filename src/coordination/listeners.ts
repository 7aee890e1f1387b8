/** Listeners of this process, by topic. One that throws does not keep the others from hearing. */
export const ANNOUNCEMENT_BYTES_MAX = 4 * 1024

export type Listener = (text: string) => void
export type Listeners = {
  /** The answer ends it, and says whether it was the topic's last. */
  add(topic: string, listener: Listener): () => boolean
  tell(topic: string, text: string): void
  topics(): readonly string[]
}

export function createListeners(onProblem: (problem: string, error: unknown) => void): Listeners {
  const topics = new Map<string, Set<Listener>>()
  return {
    add(topic, listener) {
      const held = topics.get(topic) ?? new Set()
      topics.set(topic, held)
      // Wrapped, so that the same function may listen twice.
      const own: Listener = text => listener(text)
      held.add(own)
      return () => held.delete(own) && held.size === 0 && topics.delete(topic)
    },
    tell(topic, text) {
      for (const listener of [...(topics.get(topic) ?? [])])
        try {
          listener(text)
        } catch (error) {
          onProblem('a listener of announcements failed', error)
        }
    },
    topics: () => [...topics.keys()]
  }
}

/** Announcements carry names of things, never content; a long one is a mistake in the program. */
export function checkAnnouncement(text: string): void {
  if (Buffer.byteLength(text) > ANNOUNCEMENT_BYTES_MAX)
    throw new RangeError(`an announcement is longer than ${ANNOUNCEMENT_BYTES_MAX} bytes`)
}
