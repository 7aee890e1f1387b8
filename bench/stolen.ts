/** How much of the processor time that was wanted here the host gave to others: it says how far a figure can be trusted. */
import { readFileSync } from 'node:fs'

type Ticks = { readonly used: number; readonly stolen: number }

/** Begins to count; what it answers is the share since then, null where the system does not tell. */
export function countStolen(): () => number | null {
  const before = ticks()
  return () => {
    const after = ticks()
    if (!before || !after) return null
    const stolen = after.stolen - before.stolen
    const wanted = after.used - before.used + stolen
    return wanted === 0 ? 0 : stolen / wanted
  }
}

/** Linux, proc(5): user, nice, system, idle, iowait, irq, softirq, steal. */
function ticks(): Ticks | null {
  if (process.platform !== 'linux') return null
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(/\s+/).slice(1).map(Number)
  return { used: user + nice + system + irq + softirq, stolen: steal }
}
