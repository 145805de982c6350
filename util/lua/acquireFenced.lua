-- Takes the lock for a process when it is its turn, and gives it fencing tokens; or else keeps it a place in the queue.
-- KEYS[1]  the lock, a hash: process -> its claim
-- KEYS[2]  the queue of processes, a list; KEYS[2]:<process> is its claim, and lives while that one is heard of
-- KEYS[3]  the last token, a number that only grows
-- ARGV[1]  process
-- ARGV[2]  claim, which no other of its tries has
-- ARGV[3]  expiry in milliseconds
-- ARGV[4]  for how many milliseconds its place is kept without another word; 0 asks for no place
-- ARGV[5]  how many tokens it needs
-- Returns  the first token of a lock taken, 0 not yet
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
local ours = redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1 -- the reply or the message that said so was lost
if ours or redis.call('EXISTS', KEYS[1]) == 0 and (not head or head == ARGV[1]) then
  redis.call('LREM', KEYS[2], 0, ARGV[1])
  redis.call('DEL', place)
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return redis.call('INCRBY', KEYS[3], ARGV[5]) - ARGV[5] + 1
end
if ARGV[4] ~= '0' then
  if redis.call('EXISTS', place) == 0 then
    redis.call('LREM', KEYS[2], 0, ARGV[1])
    redis.call('RPUSH', KEYS[2], ARGV[1])
  end
  redis.call('SET', place, ARGV[2], 'PX', ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
return 0
