-- Deletes a lock if its value is the owner's.
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- Returns  1 released, 10 held by another, 30 held by nobody
local holder = redis.pcall('GET', KEYS[1]) -- of a key of another type, too, somebody else is the holder
if holder == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
if holder then
  return 10
end
return 30
