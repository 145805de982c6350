-- Gives a process's lock back, or its place in the queue. The first in the queue has the lock then, for as long as its place was kept.
-- ARGV[1]  process
-- ARGV[2]  attempt: the lock or the place of another one is left alone
-- ARGV[3]  expiry in milliseconds of a lock that is to be kept if no other process waits; 0 gives it back
-- ARGV[4]  how many fencing tokens a process needs
-- ARGV[5]  prefix of the channels on which processes are told something: on turn:<process> its attempt, its first token, and how many
-- Returns  {1} released, {20, the first of new tokens} kept, {10} held by another, {30} held by nobody
local place = KEYS[2] .. ':' .. ARGV[1]
if redis.call('GET', place) == ARGV[2] then
  redis.call('LREM', KEYS[2], 0, ARGV[1])
  redis.call('DEL', place)
end
local head = first()
if redis.pcall('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
  if redis.call('EXISTS', KEYS[1]) == 1 then
    return {10}
  end
  if head then
    redis.call('PUBLISH', ARGV[5] .. 'turn:' .. head, '') -- it may have been our turn
  end
  return {30}
end
redis.call('DEL', KEYS[1]) -- first: a Redis that is out of memory allows it, and then the rest
if not head then
  if ARGV[3] == '0' then
    return {1}
  end
  return {20, hold(ARGV[1], ARGV[2], ARGV[3], ARGV[4])}
end
place = KEYS[2] .. ':' .. head
local attempt = redis.call('GET', place)
local token = hold(head, attempt, redis.call('PTTL', place), ARGV[4])
redis.call('PUBLISH', ARGV[5] .. 'turn:' .. head, attempt .. ' ' .. string.format('%d', token) .. ' ' .. ARGV[4])
if first() then
  want(ARGV[5])
end
return {1}
