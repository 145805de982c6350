-- Takes a process out of the queue, and wakes the next one if it was its turn.
-- KEYS[1]  the lock
-- KEYS[2]  the queue of processes, a list; KEYS[2]:<process> lives while that one is heard of
-- ARGV[1]  process
-- ARGV[2]  what the channels that wake a process begin with
-- Returns  how many places it had
redis.call('DEL', KEYS[2] .. ':' .. ARGV[1])
local places = redis.call('LREM', KEYS[2], 0, ARGV[1])
local head = redis.call('LINDEX', KEYS[2], 0)
if head and redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('PUBLISH', ARGV[2] .. head, 'your turn')
end
return places
