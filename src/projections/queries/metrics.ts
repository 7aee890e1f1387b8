/** Pipeline counts of a tenant (decisions §3, metrics), from the counts of the hours. */
import type { Database } from 'better-sqlite3'
import type { Metrics, MetricsBucket, MetricsWindow, Views } from '../port.ts'
import { HOUR_MS } from '../views/message-hours.ts'
import { ALL_CHANNELS } from '../views/parties.ts'
import { toIso, toMs } from '../views/time.ts'
import type { Numbers } from './numbers.ts'

type Counts = { enqueued: number; dispatched: number; delivered: number; failed: number }
type CountedHour = Counts & { readonly hour: number }
/** Buckets of the window: how many hours each has, and the hours since 1970 at which the first and the next one begin. */
type Frame = { readonly hours: number; readonly first: number; readonly end: number }

const DAY_HOURS = 24

export function metricsQueries(db: Database, numbers: Numbers): Pick<Views, 'metrics'> {
  const hoursOf = db.prepare<[number, number, number], CountedHour>(
    `SELECT hour, enqueued, dispatched, delivered, failed FROM message_hours
     WHERE tenantNo = ? AND channelNo = ${ALL_CHANNELS} AND hour >= ? AND hour < ?`
  )
  return {
    metrics(tenantId, window, now) {
      const frame = frameOf(window, toMs(now))
      const tenantNo = numbers.party(tenantId)
      const counted = tenantNo === null ? [] : hoursOf.all(tenantNo, frame.first, frame.end)
      return { granularity: window === '24h' ? 'hour' : 'day', ...bucketsOf(frame, counted), window }
    }
  }
}

/** The present hour or day is the last bucket. */
function frameOf(window: MetricsWindow, nowMs: number): Frame {
  const hours = window === '24h' ? 1 : DAY_HOURS
  const buckets = window === '24h' ? DAY_HOURS : Number.parseInt(window, 10)
  const end = (Math.floor(nowMs / (hours * HOUR_MS)) + 1) * hours
  return { hours, first: end - buckets * hours, end }
}

function bucketsOf(frame: Frame, counted: readonly CountedHour[]): Pick<Metrics, 'series' | 'totals'> {
  const totals: Counts = { enqueued: 0, dispatched: 0, delivered: 0, failed: 0 }
  const series: { -readonly [K in keyof MetricsBucket]: MetricsBucket[K] }[] = []
  for (let hour = frame.first; hour < frame.end; hour += frame.hours) {
    const t = toIso(hour * HOUR_MS)
    series.push({ day: t.slice(0, 10), t, enqueued: 0, dispatched: 0, delivered: 0 })
  }
  for (const { hour, enqueued, dispatched, delivered, failed } of counted) {
    totals.enqueued += enqueued
    totals.dispatched += dispatched
    totals.delivered += delivered
    totals.failed += failed
    const bucket = series[Math.floor((hour - frame.first) / frame.hours)]
    if (!bucket) continue
    bucket.enqueued += enqueued
    bucket.dispatched += dispatched
    bucket.delivered += delivered
  }
  return { series, totals }
}
