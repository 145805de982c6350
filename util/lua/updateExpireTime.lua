-- Renews a reentrant lock: sets its expiry again.
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- ARGV[2]  expiry in milliseconds
-- Returns  1 renewed, 0 not ours
if redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
