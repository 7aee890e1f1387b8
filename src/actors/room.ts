/** Room for so many at once; whoever finds none waits in the order of arrival. */
export type Room = {
  /** Null when there is a place, else it is waited for. */
  enter(): Promise<void> | null
  leave(): void
}

export function createRoom(places: number): Room {
  const waiting: (() => void)[] = []
  let free = places
  return {
    enter() {
      if (free === 0) return new Promise(resolve => void waiting.push(resolve))
      free--
      return null
    },
    leave() {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
