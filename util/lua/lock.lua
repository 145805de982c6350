-- Takes a reentrant lock, a hash of owner -> count, once more.
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- ARGV[2]  expiry in milliseconds
-- Returns  how often owner has it now, 0 held by another (pcall: perhaps in a key of another type)
if redis.call('EXISTS', KEYS[1]) == 0 or redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  local count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return count
end
return 0
