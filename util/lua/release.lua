-- Gives a process's lock back: to the next one in the queue, if one waits. That one has it for as long as its place was kept.
-- KEYS[1]  the lock, a hash: process -> 1
-- KEYS[2]  the queue of processes, a list; KEYS[2]:<process> is its ticket, and lives while that one is heard of
-- KEYS[3]  the last ticket, a number that only grows
-- ARGV[1]  process
-- ARGV[2]  what the channels begin with on which a process hears its ticket: the lock is its own now
-- ARGV[3]  for how many milliseconds to keep it a place at the end of the queue; 0 if it needs neither lock nor place any more
-- ARGV[4]  expiry in milliseconds, for who needs it still
-- Returns  1 released, 20 still held, for it is needed and nobody else waits, 10 held by another, 30 held by nobody
local function first()
  local head = redis.call('LINDEX', KEYS[2], 0)
  while head and redis.call('EXISTS', KEYS[2] .. ':' .. head) == 0 do
    redis.call('LPOP', KEYS[2])
    head = redis.call('LINDEX', KEYS[2], 0)
  end
  return head
end
local place = KEYS[2] .. ':' .. ARGV[1]
if ARGV[3] == '0' then
  redis.call('LREM', KEYS[2], 0, ARGV[1])
  redis.call('DEL', place)
end
local head = first()
if redis.pcall('HEXISTS', KEYS[1], ARGV[1]) ~= 1 then
  if redis.call('EXISTS', KEYS[1]) == 1 then
    return 10
  end
  if head then
    redis.call('PUBLISH', ARGV[2] .. head, 'look')
  end
  return 30
end
if ARGV[3] ~= '0' then
  if not head then
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
    return 20
  end
  redis.call('RPUSH', KEYS[2], ARGV[1])
  redis.call('SET', place, redis.call('INCR', KEYS[3]), 'PX', ARGV[3])
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
end
redis.call('DEL', KEYS[1])
if head then
  local its = KEYS[2] .. ':' .. head
  redis.call('LPOP', KEYS[2])
  redis.call('HSET', KEYS[1], head, 1)
  redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', its))
  redis.call('PUBLISH', ARGV[2] .. head, redis.call('GET', its))
  redis.call('DEL', its)
end
return 1
