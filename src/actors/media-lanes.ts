/** Work in lanes: so many at once in one lane, so many over all of them, lanes taking turns. */

export type Lanes = {
  /** False when no more work may wait. Work must not reject. */
  add(lane: string, work: () => Promise<void>): boolean
  /** Drops what waits; resolves when what runs has ended. */
  stop(): Promise<void>
}
export type LaneLimits = { readonly perLane: number; readonly overall: number; readonly waiting: number }

type Lane = { readonly waiting: (() => Promise<void>)[]; running: number }

export function createLanes(limits: LaneLimits): Lanes {
  /** In the order of their turns: a lane that was served goes to the end. */
  const lanes = new Map<string, Lane>()
  const running = new Set<Promise<void>>()
  let waiting = 0
  let stopped = false

  function next(): [string, Lane] | undefined {
    if (running.size >= limits.overall) return undefined
    for (const entry of lanes) if (entry[1].waiting.length > 0 && entry[1].running < limits.perLane) return entry
    return undefined
  }

  function start(name: string, lane: Lane): void {
    const work = lane.waiting.shift()
    if (!work) return
    waiting--
    lane.running++
    lanes.delete(name)
    lanes.set(name, lane)
    const run: Promise<void> = work().finally(() => {
      running.delete(run)
      lane.running--
      if (lane.running === 0 && lane.waiting.length === 0) lanes.delete(name)
      pump()
    })
    running.add(run)
  }

  function pump(): void {
    for (let found = next(); found && !stopped; found = next()) start(...found)
  }

  return {
    add(name, work) {
      if (stopped || waiting >= limits.waiting) return false
      const lane = lanes.get(name) ?? { waiting: [], running: 0 }
      lanes.set(name, lane)
      lane.waiting.push(work)
      waiting++
      pump()
      return true
    },
    async stop() {
      stopped = true
      await Promise.all(running)
    }
  }
}
