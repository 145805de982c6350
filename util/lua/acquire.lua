-- Takes the lock for a process when it is its turn; or else keeps it a place in the queue.
-- ARGV[1]  process
-- ARGV[2]  attempt, an id that no other attempt has
-- ARGV[3]  expiry in milliseconds
-- ARGV[4]  how many fencing tokens it needs
-- ARGV[5]  for how many milliseconds its place is kept without another word; 0 asks for no place
-- ARGV[6]  prefix of the channels on which processes are told something
-- Returns  {1, the first of its tokens, 1 if another process waits for it, else 0} taken, {0} not yet
local head = first()
local ours = redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1 -- the reply or the message that said so was lost
if ours or redis.call('EXISTS', KEYS[1]) == 0 and (not head or head == ARGV[1]) then
  return {1, hold(ARGV[1], ARGV[2], ARGV[3], ARGV[4]), first() and 1 or 0}
end
if ARGV[5] ~= '0' then
  local place = KEYS[2] .. ':' .. ARGV[1]
  if redis.call('EXISTS', place) == 0 then
    redis.call('LREM', KEYS[2], 0, ARGV[1])
    redis.call('RPUSH', KEYS[2], ARGV[1])
  end
  redis.call('SET', place, ARGV[2], 'PX', ARGV[5])
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
want(ARGV[6])
return {0}
