-- Takes a reentrant lock, a hash of owner -> count, once more, and gives its holder fencing tokens, if it is the turn of its process; or
-- else keeps the process a place in the queue, and asks whoever keeps the lock for it.
-- KEYS[1]  the lock
-- KEYS[2]  the last token given, a number that only grows
-- ARGV[1]  owner
-- ARGV[2]  expiry in milliseconds
-- ARGV[3]  how many tokens a holder gets: a few, so that they do not outrun the time, which is in microseconds
-- ARGV[4]  process
-- ARGV[5]  for how many milliseconds its place is kept without another word; 0 asks for no place
-- ARGV[6]  what the channels begin with on which processes are told that another one waits for their lock: <ARGV[6]><owner of the process>
-- Returns  {how often owner has it now, the first of its tokens, 1 if another process waits, else 0}, {0} held by another, or not its turn
local place, head = KEYS[3] .. ':' .. ARGV[4], first()
local nested = redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1
if nested or redis.call('EXISTS', KEYS[1]) == 0 and (not head or head == ARGV[4]) then
  if not nested or redis.call('EXISTS', KEYS[2]) == 0 then
    local now, last = redis.call('TIME'), tonumber(redis.pcall('GET', KEYS[2])) or 0
    local token = math.max(last + 1, now[1] * 1000000 + now[2]) -- unless the clock is behind, grows even if the last one is lost
    redis.call('SET', KEYS[2], string.format('%.0f', token + ARGV[3] - 1)) -- first: should it fail, nothing is taken
  end
  local count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('LREM', KEYS[3], 0, ARGV[4])
  redis.call('DEL', place)
  return {count, redis.call('GET', KEYS[2]) - ARGV[3] + 1, first() and 1 or 0}
end
if ARGV[5] ~= '0' then
  if redis.call('EXISTS', place) == 0 then
    redis.call('RPUSH', KEYS[3], ARGV[4])
  end
  redis.call('SET', place, ARGV[1], 'PX', ARGV[5])
  redis.call('PEXPIRE', KEYS[3], ARGV[5])
end
local keeper = string.match(redis.pcall('HKEYS', KEYS[1])[1] or '', '(.*):') -- the process in the holder's name
if keeper then
  redis.call('PUBLISH', ARGV[6] .. keeper, '')
end
return {0}
