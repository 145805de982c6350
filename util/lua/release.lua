-- Gives a process's lock back, and wakes the next one in the queue.
-- KEYS[1]  the lock, a hash: process -> 1
-- KEYS[2]  the queue of processes, a list; KEYS[2]:<process> lives while that one is heard of
-- ARGV[1]  process
-- ARGV[2]  what the channels that wake a process begin with
-- ARGV[3]  for how many milliseconds to keep it a place at the end of the queue; 0 if it needs the lock no more
-- ARGV[4]  expiry in milliseconds, for who needs it still
-- Returns  1 released, 20 still held, for it is needed and nobody else waits, 10 held by another, 30 held by nobody
if redis.pcall('HEXISTS', KEYS[1], ARGV[1]) ~= 1 then
  if redis.call('EXISTS', KEYS[1]) == 0 then
    return 30
  end
  return 10
end
local function first()
  local head = redis.call('LINDEX', KEYS[2], 0)
  while head and redis.call('EXISTS', KEYS[2] .. ':' .. head) == 0 do
    redis.call('LPOP', KEYS[2])
    head = redis.call('LINDEX', KEYS[2], 0)
  end
  return head
end
local head = first()
if ARGV[3] ~= '0' then
  if not head then
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
    return 20
  end
  redis.call('RPUSH', KEYS[2], ARGV[1])
  redis.call('SET', KEYS[2] .. ':' .. ARGV[1], 1, 'PX', ARGV[3])
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
end
redis.call('DEL', KEYS[1])
if head then
  redis.call('PUBLISH', ARGV[2] .. head, 'your turn')
end
return 1
