/** Scripts that Redis executes atomically; times are those of its own clock. */

/** Lua prints large numbers, and -0, in formats that Redis does not read. */
const add = `local function add(name, amount)
  redis.call('HINCRBY', KEYS[1], name, string.format('%.0f', amount))
end`;

const now = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * Reserves tokens and money for a call, or raises its reservation. Keys: quota, holds. Arguments: call, worker, tokens,
 * money (-1: not known), most tokens, most money (-1: not limited), prefix of workers, how long one must be silent to
 * count as dead. The limits that the last command set come before those of the arguments. A dead worker's reservations
 * count as spent, because its calls may have been answered and charged. If it comes back and settles, the rest is
 * released.
 */
export const reserveScript = `${now}
${add}
local quota, holds = KEYS[1], KEYS[2]
if redis.call('EXISTS', quota) == 0 then return {'unknown'} end
local call, worker = ARGV[1], ARGV[2]
local before = redis.call('HGET', holds, call)
local had = {0, 0}
if before then
  local told = cjson.decode(before)
  had = {told[2], told[3]}
end
local set = redis.call('HMGET', quota, 'most_tokens', 'most_money')
local limits = {tonumber(set[1] or ARGV[5]), tonumber(set[2] or ARGV[6])}
local money = tonumber(ARGV[4])
if money < 0 and limits[2] >= 0 then return {'unpriced', string.format('%.0f', limits[2])} end
local function look()
  local values = redis.call('HMGET', quota, 'spent_tokens', 'spent_money', 'kept_tokens', 'kept_money')
  for index = 1, 4 do values[index] = tonumber(values[index] or 0) end
  return values
end
local values = look()
local more = {math.max(0, tonumber(ARGV[3]) - had[1]), math.max(0, money - had[2])}
local function first_over(kept)
  for index, name in ipairs({'tokens', 'money'}) do
    local used = values[index] + (kept and values[index + 2] or 0)
    if limits[index] >= 0 and used + more[index] > limits[index] then
      return {name, math.max(0, limits[index] - used), limits[index]}
    end
  end
end
local over = first_over(true)
if not over then
  redis.call('HSET', holds, call, cjson.encode({worker, had[1] + more[1], had[2] + more[2]}))
  add('kept_tokens', more[1])
  add('kept_money', more[2])
  redis.call('PEXPIRE', quota, 2592000000)
  redis.call('PEXPIRE', holds, 2592000000)
  return {'reserved'}
end
local never = first_over(false)
if never then
  return {'exceeded', never[1], string.format('%.0f', never[2]), string.format('%.0f', never[3])}
end
local all = redis.call('HGETALL', holds)
for index = 1, #all, 2 do
  local held = cjson.decode(all[index + 1])
  local silent = 'silent:' .. held[1]
  if redis.call('EXISTS', ARGV[7] .. held[1]) == 1 then
    redis.call('HDEL', quota, silent)
  else
    redis.call('HSETNX', quota, silent, now)
    if now - tonumber(redis.call('HGET', quota, silent)) >= tonumber(ARGV[8]) then
      redis.call('HDEL', holds, all[index])
      redis.call('HSET', quota, 'lost:' .. all[index], all[index + 1])
      for part, name in ipairs({'tokens', 'money'}) do
        add('kept_' .. name, 0 - held[part + 1])
        add('spent_' .. name, held[part + 1])
      end
    end
  end
end
return {'wait'}`;

/**
 * Ends a call. Keys: quota, holds. Arguments: call, tokens, money. If it is repeated, it counts once. If Redis lost the
 * quota, the next reservation counts everything from the store: one with this call alone would look like the whole.
 */
export const settleScript = `${add}
local quota, holds, call = KEYS[1], KEYS[2], ARGV[1]
if redis.call('EXISTS', quota) == 0 then return 0 end
if redis.call('SET', quota .. ':settled:' .. call, 1, 'NX', 'EX', 86400) == false then return 0 end
local held = redis.call('HGET', holds, call)
local lost = redis.call('HGET', quota, 'lost:' .. call)
local told = (held or lost) and cjson.decode(held or lost) or {'', 0, 0}
redis.call('HDEL', holds, call)
redis.call('HDEL', quota, 'lost:' .. call)
for part, name in ipairs({'tokens', 'money'}) do
  local spent = tonumber(ARGV[part + 1])
  if held then add('kept_' .. name, 0 - told[part + 1]) end
  if lost then spent = spent - told[part + 1] end
  add('spent_' .. name, spent)
end
return 1`;

/**
 * Sets what was spent, according to the store, if no worker is active that knows better. Keys: quota, holds. Arguments:
 * tokens, money.
 */
export const beginScript = `local quota, holds = KEYS[1], KEYS[2]
local isKnown = redis.call('EXISTS', quota) == 1
if isKnown and redis.call('HLEN', holds) > 0 then return 0 end
for part, name in ipairs({'tokens', 'money'}) do
  local known = tonumber(redis.call('HGET', quota, 'spent_' .. name) or 0)
  redis.call('HSET', quota, 'spent_' .. name, string.format('%.0f', math.max(known, tonumber(ARGV[part]))))
end
redis.call('PEXPIRE', quota, 2592000000)
return 1`;

/** Sets the limits, if anything is counted. Key: quota. Arguments: most tokens, most money (-1: not limited). */
export const limitScript = `if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'most_tokens', ARGV[1], 'most_money', ARGV[2])
return 1`;

/** Gives a job that is queued its new content. Key: the job. Argument: its data. */
export const renewScript = `if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'data', ARGV[1])
return 1`;

/**
 * Lets a call begin, or returns how many milliseconds it has to wait. Key: when calls began. Arguments: calls,
 * milliseconds of the window in which they are counted.
 */
export const paceScript = `${now}
local calls, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local oldest = redis.call('LINDEX', KEYS[1], -calls)
if oldest then
  local wait = tonumber(oldest) + window - now
  if wait > 0 then return math.ceil(wait) end
end
redis.call('RPUSH', KEYS[1], now)
redis.call('LTRIM', KEYS[1], -math.max(calls, 5000), -1)
redis.call('PEXPIRE', KEYS[1], math.ceil(math.max(window, 3600000)))
return 0`;
