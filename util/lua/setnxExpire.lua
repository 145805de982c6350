-- Takes a lock, with an expiry, by the two commands that would be two steps without a script.
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- ARGV[2]  expiry in milliseconds
-- Returns  1 taken, 0 held by another
if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
