/** A piece of work that holds a place until it calls `leave`. */
export type LaneTask = (leave: () => void) => void

export type Lanes = {
  /** Calls `task` once the lane has a free place, at once or later; false when too many are waiting already. */
  enter(lane: string, task: LaneTask): boolean
}

type Lane = { readonly name: string; active: number; isFilling: boolean; readonly waiting: LaneTask[] }

/**
 * Gives each lane (a receiver) a number of places of its own, so that a receiver that holds on to all of its places
 * holds up nobody else. A lane costs memory only while it is in use.
 */
export const createLanes = ({ places, maxWaiting }: { places: number; maxWaiting: number }): Lanes => {
  const lanes = new Map<string, Lane>()

  /** Hands out free places. A task that leaves at once is served by this loop, not by a deeper call. */
  const fill = (lane: Lane): void => {
    if (lane.isFilling) return
    lane.isFilling = true
    while (lane.active < places) {
      const task = lane.waiting.shift()
      if (task === undefined) break
      lane.active += 1
      let hasLeft = false
      task(() => {
        if (hasLeft) return
        hasLeft = true
        lane.active -= 1
        fill(lane)
      })
    }
    lane.isFilling = false
    if (lane.active === 0 && lane.waiting.length === 0) lanes.delete(lane.name)
  }

  return {
    enter: (name, task) => {
      const lane = lanes.get(name) ?? { name, active: 0, isFilling: false, waiting: [] }
      if (lane.waiting.length >= maxWaiting) return false
      lanes.set(name, lane)
      lane.waiting.push(task)
      fill(lane)
      return true
    }
  }
}
