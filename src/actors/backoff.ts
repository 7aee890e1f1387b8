/** How long to wait before attempt n + 1. */

/** `attempt` counts from 1; past the end of the schedule its last wait repeats. Jitter is a share, 0.1 for ±10 %. */
export function backoffMs(schedule: readonly number[], attempt: number, jitter: number, random: () => number): number {
  const base = schedule[Math.min(attempt, schedule.length) - 1] ?? 0
  return Math.round(base * (1 + jitter * (2 * random() - 1)))
}
