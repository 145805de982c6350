-- Gives a reentrant lock back once; the last time deletes it.
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- Returns  1 released, 20 still held by owner, 10 held by another, 30 held by nobody
--          (10 and 20, because Redis itself says 0 and 1 so often)
local count = redis.pcall('HGET', KEYS[1], ARGV[1])
if type(count) ~= 'string' then
  if redis.call('EXISTS', KEYS[1]) == 0 then
    return 30
  end
  return 10
end
if tonumber(count) > 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
  return 20
end
redis.call('DEL', KEYS[1]) -- not HINCRBY first: a Redis that is out of memory refuses it, and would keep the lock
return 1
