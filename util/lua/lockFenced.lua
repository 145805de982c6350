-- Takes a reentrant lock, a hash of owner -> count, once more, and gives its holder fencing tokens.
-- KEYS[1]  the lock
-- KEYS[2]  the last token given, a number that only grows
-- ARGV[1]  owner
-- ARGV[2]  expiry in milliseconds
-- ARGV[3]  how many tokens a holder gets: a few, so that they do not outrun the time, which is in microseconds
-- Returns  {how often owner has it now, the first of its tokens}, {0} held by another (pcall: perhaps in a key of another type)
local nested = redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1
if nested or redis.call('EXISTS', KEYS[1]) == 0 then
  if not nested or redis.call('EXISTS', KEYS[2]) == 0 then
    local now, last = redis.call('TIME'), tonumber(redis.pcall('GET', KEYS[2])) or 0
    local token = math.max(last + 1, now[1] * 1000000 + now[2]) -- unless the clock is behind, grows even if the last one is lost
    redis.call('SET', KEYS[2], string.format('%.0f', token + ARGV[3] - 1)) -- first: should it fail, nothing is taken
  end
  local count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {count, redis.call('GET', KEYS[2]) - ARGV[3] + 1}
end
return {0}
