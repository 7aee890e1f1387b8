/** Announcements over pub/sub. This node's listeners hear its own directly, so that they do even when Redis is away. */
import { randomBytes } from 'node:crypto'
import type { Listener, Listeners } from '../listeners.ts'
import type { Connection } from './connection.ts'
import type { Link } from './link.ts'

export type Announcements = {
  /** Resolves when Redis has it, or will not have it. */
  announce(topic: string, text: string): Promise<unknown>
  subscribe(topic: string, listener: Listener): () => void
}

/** `ear`: a connection of its own, which does nothing but listen. */
export function createAnnouncements(link: Link, ear: Connection, listeners: Listeners, prefix: string): Announcements {
  const origin = randomBytes(8).toString('hex')
  const channels = `${prefix}say:`
  const subscribed = (topics: readonly string[]): void => {
    if (topics.length === 0 || ear.status !== 'ready') return
    // When it fails the connection has ended, and the next one subscribes again.
    ear.subscribe(...topics.map(topic => channels + topic)).catch(() => undefined)
  }

  ear.on('error', () => undefined)
  ear.on('ready', () => subscribed(listeners.topics()))
  ear.on('message', (channel: string, message: string) => {
    const end = message.indexOf(' ')
    if (!channel.startsWith(channels) || message.slice(0, end) === origin) return
    listeners.tell(channel.slice(channels.length), message.slice(end + 1))
  })

  return {
    announce(topic, text) {
      queueMicrotask(() => listeners.tell(topic, text))
      return link.ask(redis => redis.publish(channels + topic, `${origin} ${text}`))
    },
    subscribe(topic, listener) {
      const isNew = !listeners.topics().includes(topic)
      const end = listeners.add(topic, listener)
      if (isNew) subscribed([topic])
      return () => {
        if (end() && ear.status === 'ready') ear.unsubscribe(channels + topic).catch(() => undefined)
      }
    }
  }
}
