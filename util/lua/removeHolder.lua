-- Removes a lock of any version if it is the named holder's: the value of a string, or a field of a hash.
-- KEYS[1]  the lock
-- ARGV[1]  holder
-- Returns  1 removed, 10 held by another, 30 held by nobody
local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then
  return 30
end
if kind == 'string' and redis.call('GET', KEYS[1]) == ARGV[1] or kind == 'hash' and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return redis.call('DEL', KEYS[1])
end
return 10
