/**
 * What must be one step in Redis. Layout, all below the key prefix:
 *
 * - `r:<ns>:<key>`  string `<version>|<json>`, with PX when it has a TTL: Redis itself makes it absent in time
 * - `i:<ns>`        sorted set, all scores 0: the keys of the namespace in byte order, so `list` never scans
 * - `x`             sorted set of `<ns>:<key>` by expiry, so that index entries of expired records are removed
 * - `n:<stream>`    the last sequence number; `s:<stream>` a Redis stream whose ids are `<seq>-0`
 *
 * Some keys are computed inside, so the scripts need one Redis (or Sentinel), not Redis Cluster.
 */

/** Index entries of at most this many expired records are removed per write with a TTL: more than a write adds. */
const SWEEP_PER_WRITE = 16;

const TIME = `
local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/**
 * KEYS: record, index, expiries. ARGV: mode (put | absent | cas), expected version, json, ttl in ms or '', key,
 * expiry member, prefix. Returns the new version, or 0 when the condition did not hold.
 */
export const WRITE = `${TIME}
local found = redis.call('GETRANGE', KEYS[1], 0, 20)
local version = tonumber(string.match(found, '^(%d+)|') or '0')
if ARGV[1] == 'absent' and version > 0 then return 0 end
if ARGV[1] == 'cas' and version ~= tonumber(ARGV[2]) then return 0 end
version = version + 1
local record = string.format('%d|', version) .. ARGV[3]
if ARGV[4] == '' then
  redis.call('SET', KEYS[1], record)
else
  local now = nowMs()
  redis.call('SET', KEYS[1], record, 'PX', ARGV[4])
  redis.call('ZADD', KEYS[3], now + tonumber(ARGV[4]), ARGV[6])
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, ${SWEEP_PER_WRITE})) do
    local left = redis.call('PTTL', ARGV[7] .. 'r:' .. member)
    if left >= 0 then
      redis.call('ZADD', KEYS[3], now + left + 1, member)
    else
      redis.call('ZREM', KEYS[3], member)
      if left == -2 then
        local ns, key = string.match(member, '^([^:]*):(.*)$')
        redis.call('ZREM', ARGV[7] .. 'i:' .. ns, key)
      end
    end
  end
end
redis.call('ZADD', KEYS[2], 0, ARGV[5])
return version
`;

/** KEYS: record, index, expiries. ARGV: expected version or '', key, expiry member. Returns 1 when deleted. */
export const DELETE = `
if ARGV[1] ~= '' then
  local found = redis.call('GETRANGE', KEYS[1], 0, 20)
  if string.match(found, '^(%d+)|') ~= ARGV[1] then return 0 end
end
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[3])
return redis.call('DEL', KEYS[1])
`;

/**
 * KEYS: index. ARGV: record prefix, lowest, highest (as ZRANGEBYLEX takes them), limit. Returns key, record, key,
 * record …. Entries whose record has expired are removed on the way, so they do not use up the limit.
 */
export const LIST = `
local result, low, limit = {}, ARGV[2], tonumber(ARGV[4])
while #result < limit * 2 do
  local want = limit - #result / 2
  local keys = redis.call('ZRANGEBYLEX', KEYS[1], low, ARGV[3], 'LIMIT', 0, want)
  for _, key in ipairs(keys) do
    local record = redis.call('GET', ARGV[1] .. key)
    if record then
      result[#result + 1] = key
      result[#result + 1] = record
    else
      redis.call('ZREM', KEYS[1], key)
    end
    low = '(' .. key
  end
  if #keys < want then break end
end
return result
`;

/** KEYS: last sequence number, stream. ARGV: max length or '', then the entries' json. Returns the last sequence number. */
export const APPEND = `
local seq
for entry = 2, #ARGV do
  seq = redis.call('INCR', KEYS[1])
  local id = string.format('%d-0', seq)
  if ARGV[1] == '' then
    redis.call('XADD', KEYS[2], id, 'v', ARGV[entry])
  else
    redis.call('XADD', KEYS[2], 'MAXLEN', '=', ARGV[1], id, 'v', ARGV[entry])
  end
end
return seq
`;
