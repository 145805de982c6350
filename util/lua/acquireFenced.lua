-- Takes the lock for a process when it is its turn, and gives it a fencing token; or else keeps it a place in the queue.
-- KEYS[1]  the lock, a hash: process -> 1
-- KEYS[2]  the queue of processes, a list; KEYS[2]:<process> is its ticket, and lives while that one is heard of
-- KEYS[3]  the last ticket, a number that only grows
-- KEYS[4]  the last token, a number that only grows
-- ARGV[1]  process
-- ARGV[2]  expiry in milliseconds
-- ARGV[3]  for how many milliseconds its place is kept without another word; 0 asks for no place
-- Returns  the token of a lock taken; the ticket for its place, as a number below 0; 0 neither
local function first()
  local head = redis.call('LINDEX', KEYS[2], 0)
  while head and redis.call('EXISTS', KEYS[2] .. ':' .. head) == 0 do
    redis.call('LPOP', KEYS[2])
    head = redis.call('LINDEX', KEYS[2], 0)
  end
  return head
end
local place = KEYS[2] .. ':' .. ARGV[1]
local head = first()
local ours = redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1 -- the reply or the hint that said so was lost
if ours or redis.call('EXISTS', KEYS[1]) == 0 and (not head or head == ARGV[1]) then
  redis.call('LREM', KEYS[2], 0, ARGV[1])
  redis.call('DEL', place)
  redis.call('HSET', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return redis.call('INCR', KEYS[4])
end
if ARGV[3] == '0' then
  return 0
end
local ticket = redis.call('GET', place)
if not ticket then
  ticket = redis.call('INCR', KEYS[3])
  redis.call('LREM', KEYS[2], 0, ARGV[1])
  redis.call('RPUSH', KEYS[2], ARGV[1])
end
redis.call('SET', place, ticket, 'PX', ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return -ticket
