-- Sets a lock's expiry again, if it is still its owner's.
-- KEYS[1]  the lock, a string: owner
-- ARGV[1]  owner
-- ARGV[2]  expiry in milliseconds
-- Returns  1 set, 0 held by another or by nobody
if redis.pcall('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
