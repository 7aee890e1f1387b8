/** What happens inside Redis in one step. All moments are Redis's own, so that nodes' clocks do not matter. */

/**
 * One round of a node's leases: announces it, renews what it still holds, and takes free shards up to its fair share.
 * KEYS: members, era, then one per shard. ARGV: node, lease ms, ms that an announcement lives, a `1` for every shard
 * that the node holds by its own clock, where it begins to look. Answers live nodes, fair share, a `1` per shard held.
 *
 * An era is one life of the Redis process: whatever it forgot when it ended may still be held somewhere. So in a new era
 * holders put their leases back, and nobody takes a free one before the longest unseen lease must be over.
 */
const leaseRound = `
local me, ttl, alive, kept, first = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
local era = redis.call('HMGET', KEYS[2], 'run', 'since')
local since = tonumber(era[2])
if era[1] ~= run or not since or since > now then
  since = now
  redis.call('HSET', KEYS[2], 'run', run, 'since', now)
end
redis.call('ZADD', KEYS[1], now, me)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - alive)
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + alive, '+inf')
local live = redis.call('ZCARD', KEYS[1])
local shards = #KEYS - 2
local share = math.ceil(shards / live)
local owners = redis.call('MGET', unpack(KEYS, 3))
local mine, count = {}, 0
for i = 1, shards do
  mine[i] = '0'
  if string.byte(kept, i) == 49 then
    if owners[i] == me or not owners[i] then
      redis.call('SET', KEYS[i + 2], me, 'PX', ttl)
      mine[i] = '1'
      count = count + 1
    end
  elseif owners[i] == me then
    redis.call('DEL', KEYS[i + 2])
    owners[i] = false
  end
end
if now - since >= ttl then
  for n = 0, shards - 1 do
    if count >= share then break end
    local i = (first + n) % shards + 1
    if mine[i] == '0' and not owners[i] and redis.call('SET', KEYS[i + 2], me, 'NX', 'PX', ttl) then
      mine[i] = '1'
      count = count + 1
    end
  end
end
return { live, share, table.concat(mine) }
`

/** KEYS: members, then shards. ARGV: node, `1` when it leaves for good. Gives back the shards that are still its own. */
const leaseRelease = `
if ARGV[2] == '1' then redis.call('ZREM', KEYS[1], ARGV[1]) end
for i = 2, #KEYS do
  if redis.call('GET', KEYS[i]) == ARGV[1] then redis.call('DEL', KEYS[i]) end
end
return 1
`

/**
 * KEYS: bucket. ARGV: burst, tokens per ms, tokens wanted, given back, spent while Redis was away, and what the bucket
 * holds when Redis does not know it. Answers tokens granted, tokens left, ms until the next one.
 */
const bucketTake = `
local burst, rate, want = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local held = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(held[1]), tonumber(held[2])
if not tokens or not at then
  tokens = tonumber(ARGV[6])
  at = now
end
tokens = math.min(burst, tokens + math.max(0, now - at) * rate + tonumber(ARGV[4]))
tokens = math.max(0, tokens - tonumber(ARGV[5]))
local granted = math.min(want, math.floor(tokens))
tokens = tokens - granted
redis.call('HSET', KEYS[1], 'tokens', string.format('%.9f', tokens), 'at', string.format('%.3f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((burst - tokens) / rate) + 1000)
return { granted, string.format('%.9f', tokens), math.ceil(math.max(0, 1 - tokens) / rate) }
`

/** KEYS: window. ARGV: requests, ms of a window. Answers the requests of the window with these, and its remaining ms. */
const countRequests = `
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], left)
end
return { count, left }
`

export const SCRIPTS = {
  leaseRound: { lua: leaseRound },
  leaseRelease: { lua: leaseRelease },
  bucketTake: { lua: bucketTake, numberOfKeys: 1 },
  countRequests: { lua: countRequests, numberOfKeys: 1 }
}

type Argument = string | number

/** The scripts as commands. The first two take the number of their keys first. */
export type ScriptCommands = {
  leaseRound(...args: readonly Argument[]): Promise<[live: number, share: number, held: string]>
  leaseRelease(...args: readonly Argument[]): Promise<number>
  bucketTake(...args: readonly Argument[]): Promise<[granted: number, left: string, waitMs: number]>
  countRequests(...args: readonly Argument[]): Promise<[count: number, leftMs: number]>
}
