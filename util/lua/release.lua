-- Gives a reentrant lock back once, and the place of its process in the queue; the last time deletes it, and wakes the first in the queue.
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- ARGV[2]  process
-- ARGV[3]  what the channels begin with on which processes are woken: <ARGV[3]><process>
-- Returns  1 released, 20 still held by owner, 10 held by another, 30 held by nobody
--          (10 and 20, because Redis itself says 0 and 1 so often)
local place = KEYS[3] .. ':' .. ARGV[2]
if redis.call('GET', place) == ARGV[1] then
  redis.call('LREM', KEYS[3], 0, ARGV[2])
  redis.call('DEL', place)
end
local count = redis.pcall('HGET', KEYS[1], ARGV[1])
if type(count) ~= 'string' then
  if redis.call('EXISTS', KEYS[1]) == 0 then
    wake(ARGV[3]) -- it may have been this process's turn
    return 30
  end
  return 10
end
if tonumber(count) > 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
  return 20
end
redis.call('DEL', KEYS[1]) -- not HINCRBY first: a Redis that is out of memory refuses it, and would keep the lock
wake(ARGV[3])
return 1
