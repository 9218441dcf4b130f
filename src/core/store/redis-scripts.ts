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
 * KEYS: expiries, then record and index of each record. ARGV: mode of the first record (put | absent | cas), expected
 * version, prefix, then of each record json, ttl in ms or '', key, expiry member. The others are put where the first
 * could be written. Returns the first's new version, or 0 when its condition did not hold.
 */
export const WRITE = `${TIME}
local function versionOf(record)
  return tonumber(string.match(redis.call('GETRANGE', record, 0, 20), '^(%d+)|') or '0')
end
local function sweep(now)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ${SWEEP_PER_WRITE})) do
    local left = redis.call('PTTL', ARGV[3] .. 'r:' .. member)
    if left >= 0 then
      redis.call('ZADD', KEYS[1], now + left + 1, member)
    else
      redis.call('ZREM', KEYS[1], member)
      if left == -2 then
        local ns, key = string.match(member, '^([^:]*):(.*)$')
        redis.call('ZREM', ARGV[3] .. 'i:' .. ns, key)
      end
    end
  end
end
local function write(record, index, version, json, ttl, key, member)
  local text = string.format('%d|', version) .. json
  if ttl == '' then
    redis.call('SET', record, text)
  else
    local now = nowMs()
    redis.call('SET', record, text, 'PX', ttl)
    redis.call('ZADD', KEYS[1], now + tonumber(ttl), member)
    sweep(now)
  end
  redis.call('ZADD', index, 0, key)
end
local first = versionOf(KEYS[2])
if ARGV[1] == 'absent' and first > 0 then return 0 end
if ARGV[1] == 'cas' and first ~= tonumber(ARGV[2]) then return 0 end
for at = 0, (#KEYS - 3) / 2 do
  local record, index, of = KEYS[2 + 2 * at], KEYS[3 + 2 * at], 4 + 4 * at
  write(record, index, versionOf(record) + 1, ARGV[of], ARGV[of + 1], ARGV[of + 2], ARGV[of + 3])
end
return first + 1
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
