/**
 * A token bucket in Redis. A busy number takes a few tokens at a time and holds them for a moment; what it did not use by
 * then goes back. So no window is exceeded by more than what came in during that moment, and a node that dies takes at
 * most one handful with it. While Redis is away a local bucket that starts empty stands in, and is accounted for later.
 */
import type { Bucket } from '../port.ts'
import type { Time } from '../time.ts'
import { burstOf, createLocalBucket, type LocalBucket, UNLIMITED } from '../token-bucket.ts'
import type { Link } from './link.ts'

/** A handful is an eighth of the burst, at most this. */
const HANDFUL_MAX = 32
const HOLD_MS = 100
/** A bucket that was empty is asked again after this at the latest: another node may have given tokens back. */
const ASK_AGAIN_MS = 1_000

export function createRedisBucket(link: Link, time: Time, key: string, perMinute: number): Bucket {
  if (perMinute <= 0) return UNLIMITED
  const burst = burstOf(perMinute)
  const perMs = perMinute / 60_000
  const handful = Math.min(HANDFUL_MAX, Math.max(1, Math.floor(burst / 8)))
  let inHand = 0
  let emptyUntil = 0
  /** What Redis last said, should it forget. */
  let seen = { tokens: burst, at: time.now() }
  let standIn: LocalBucket | null = null
  let spentAway = 0
  let asking: Promise<boolean> | null = null
  let cancelReturn: (() => void) | null = null

  async function exchange(want: number, back: number): Promise<boolean> {
    const spent = spentAway
    spentAway = 0
    const believed = Math.min(burst, seen.tokens + (time.now() - seen.at) * perMs)
    const answer = await link.ask(redis => redis.bucketTake(key, burst, perMs, want, back, spent, believed))
    if (!answer.ok) {
      spentAway += spent
      return false
    }
    const [granted, left, waitMs] = answer.value
    const at = time.now()
    seen = { tokens: Number(left), at }
    standIn = null
    inHand += granted
    if (granted < want) emptyUntil = at + Math.min(waitMs, ASK_AGAIN_MS)
    if (inHand > 0) returnLater()
    return true
  }

  function returnLater(): void {
    cancelReturn?.()
    cancelReturn = time.after(HOLD_MS, () => {
      cancelReturn = null
      const back = inHand
      inHand = 0
      // Lost when Redis is away: too few tokens is the safe side.
      if (back > 0) void exchange(0, back)
    })
  }

  function away(): LocalBucket {
    standIn ??= createLocalBucket(time, perMinute, 'empty')
    return standIn
  }

  function takeAway(): boolean {
    const taken = away().take()
    if (taken) spentAway++
    return taken
  }

  async function claim(): Promise<boolean> {
    while (inHand < 1) {
      if (time.now() < emptyUntil) return false
      asking ??= exchange(handful, 0).finally(() => {
        asking = null
      })
      if (!(await asking)) return takeAway()
    }
    inHand--
    return true
  }

  return {
    take() {
      if (inHand > 0) {
        inHand--
        return true
      }
      if (!link.usable()) return takeAway()
      return time.now() < emptyUntil ? false : claim()
    },
    giveBack() {
      if (standIn !== null) {
        standIn.giveBack()
        spentAway = Math.max(0, spentAway - 1)
        return
      }
      inHand++
      if (cancelReturn === null) returnLater()
    },
    waitMs() {
      if (inHand > 0) return 0
      if (standIn !== null || !link.usable()) return away().waitMs()
      return Math.max(0, Math.ceil(emptyUntil - time.now()))
    }
  }
}
