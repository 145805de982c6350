-- Deletes a lock if its value is the owner's.
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- Returns  1 deleted, 0 held by nobody, -1 held by another
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
if holder then
  return -1
end
return 0
