-- Gives a process's lock back, or its place in the queue. The first in the queue has the lock then, for as long as its place was kept.
-- KEYS[1]  the lock, a hash: process -> its claim
-- KEYS[2]  the queue of processes, a list; KEYS[2]:<process> is its claim, and lives while that one is heard of
-- KEYS[3]  the last token, a number that only grows
-- ARGV[1]  process
-- ARGV[2]  claim: the lock or the place of another one is left alone
-- ARGV[3]  what the channels begin with on which a process is told its claim and first token, when it has the lock
-- ARGV[4]  expiry in milliseconds, for who would keep the lock if nobody else waits; or 0
-- ARGV[5]  how many tokens a process needs
-- Returns  1 released, 10 held by another, 30 held by nobody; kept: the first of new tokens, as a number below 0
local function first()
  local head = redis.call('LINDEX', KEYS[2], 0)
  while head and redis.call('EXISTS', KEYS[2] .. ':' .. head) == 0 do
    redis.call('LPOP', KEYS[2])
    head = redis.call('LINDEX', KEYS[2], 0)
  end
  return head
end
local function first_token()
  return redis.call('INCRBY', KEYS[3], ARGV[5]) - ARGV[5] + 1
end
local place = KEYS[2] .. ':' .. ARGV[1]
if redis.call('GET', place) == ARGV[2] then
  redis.call('LREM', KEYS[2], 0, ARGV[1])
  redis.call('DEL', place)
end
local head = first()
if redis.pcall('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
  if redis.call('EXISTS', KEYS[1]) == 1 then
    return 10
  end
  if head then
    redis.call('PUBLISH', ARGV[3] .. head, 'ask') -- it may have been our turn
  end
  return 30
end
if not head and ARGV[4] ~= '0' then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  return -first_token()
end
redis.call('DEL', KEYS[1])
if head then
  local its = KEYS[2] .. ':' .. head
  local claim = redis.call('GET', its)
  redis.call('HSET', KEYS[1], head, claim)
  redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', its))
  redis.call('LPOP', KEYS[2])
  redis.call('DEL', its)
  redis.call('PUBLISH', ARGV[3] .. head, claim .. ' ' .. string.format('%d', first_token()))
end
return 1
