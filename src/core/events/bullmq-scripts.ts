/**
 * What BullMQ has no command for and must be one step. The scripts read BullMQ's own keys (lists `wait` and `paused`,
 * sorted sets `delayed` and `failed`, one hash per job) and only ever take a job out of them; putting one in is left
 * to BullMQ. To each job hash they add two fields of their own, which go when the hash goes:
 * `openclawLane` and `openclawDueAt`.
 */

/** True when this add made the job, false when its id was known. KEYS: job. ARGV: nonce. */
export const IS_MINE = `
return string.find(redis.call('HGET', KEYS[1], 'data') or '', ARGV[1], 1, true) and 1 or 0
`;

/**
 * Puts a parked job at the end of its lane. Runs in one MULTI with the add, so there is no parked job outside a lane.
 * KEYS: job, delayed, lane, lanes, last place. ARGV: job id, nonce, parked from, due at, lane name.
 * Returns whether this add made the job, and whether it is parked at the head of its lane.
 */
export const ENTER_LANE = `
local mine = string.find(redis.call('HGET', KEYS[1], 'data') or '', ARGV[2], 1, true)
local score = redis.call('ZSCORE', KEYS[2], ARGV[1])
local parked = score and tonumber(score) >= tonumber(ARGV[3])
if mine and parked then
  redis.call('HSET', KEYS[1], 'openclawLane', ARGV[5], 'openclawDueAt', ARGV[4])
  redis.call('ZADD', KEYS[3], redis.call('INCR', KEYS[5]), ARGV[1])
  redis.call('SADD', KEYS[4], ARGV[5])
end
local head = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
return { mine and 1 or 0, parked and head == ARGV[1] and 1 or 0 }
`;

/**
 * Whether a job may run now: only the head of its lane may. One that came here without a place in it (a retried dead
 * letter) gets the last one. KEYS: lane, lanes, last place. ARGV: job id, lane name.
 */
export const IS_HEAD = `
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  redis.call('ZADD', KEYS[1], redis.call('INCR', KEYS[3]), ARGV[1])
  redis.call('SADD', KEYS[2], ARGV[2])
end
return redis.call('ZRANGE', KEYS[1], 0, 0)[1] == ARGV[1] and 1 or 0
`;

/**
 * Takes a job (if one is named) and all finished or vanished ones off the front of a lane. Returns the id and the due
 * time of the new head when it is parked and so must be released; else nothing.
 * KEYS: lane, lanes, delayed. ARGV: job id or '', lane name, prefix of the job keys, parked from.
 */
export const ADVANCE_LANE = `
if ARGV[1] ~= '' then redis.call('ZREM', KEYS[1], ARGV[1]) end
while true do
  local head = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
  if not head then
    redis.call('SREM', KEYS[2], ARGV[2])
    return {}
  end
  local job = ARGV[3] .. head
  if redis.call('EXISTS', job) == 1 and redis.call('HEXISTS', job, 'finishedOn') == 0 then
    local score = redis.call('ZSCORE', KEYS[3], head)
    if score and tonumber(score) >= tonumber(ARGV[4]) then
      return { head, redis.call('HGET', job, 'openclawDueAt') or '0' }
    end
    return {}
  end
  redis.call('ZREM', KEYS[1], head)
end
`;

/**
 * Removes a job from the given lists or sets; only if it was in one of them, its hash goes too. A job that is active
 * is in none of them. KEYS: job, list, list, sorted set. ARGV: job id. Returns whether it was removed, and its lane or ''.
 */
export const TAKE_OUT = `
local found = redis.call('LREM', KEYS[2], 1, ARGV[1]) + redis.call('LREM', KEYS[3], 1, ARGV[1])
  + redis.call('ZREM', KEYS[4], ARGV[1])
if found == 0 then return { 0, '' } end
local lane = redis.call('HGET', KEYS[1], 'openclawLane') or ''
redis.call('DEL', KEYS[1], KEYS[1] .. ':logs')
return { 1, lane }
`;
