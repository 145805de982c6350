-- What acquire.lua and release.lua begin with: the queue of processes that wait for the lock.
-- KEYS[1]  the lock, a hash: process -> its attempt
-- KEYS[2]  the queue, a list of processes; KEYS[2]:<process> is the attempt of one, and lives while that is heard of
-- KEYS[3]  the last fencing token given, a number that only grows

-- Gives the first process that lives; drops the dead ones before it.
local function first()
  local head = redis.call('LINDEX', KEYS[2], 0)
  while head and redis.call('EXISTS', KEYS[2] .. ':' .. head) == 0 do
    redis.call('LPOP', KEYS[2])
    head = redis.call('LINDEX', KEYS[2], 0)
  end
  return head
end

-- Makes a process the holder, and gives its first token.
local function hold(process, attempt, expiry, tokens)
  local last = redis.call('INCRBY', KEYS[3], tokens) -- first: should it fail, nothing is taken
  redis.call('LREM', KEYS[2], 0, process)
  redis.call('DEL', KEYS[1])
  redis.call('DEL', KEYS[2] .. ':' .. process)
  redis.call('HSET', KEYS[1], process, attempt)
  redis.call('PEXPIRE', KEYS[1], expiry)
  return last - tokens + 1
end

-- Tells the holder that another process waits for the lock. A holder that keeps no lock does not listen.
local function want(channels)
  local holder = redis.pcall('HGETALL', KEYS[1])
  if holder[1] then
    redis.call('PUBLISH', channels .. 'wanted:' .. holder[1], holder[2])
  end
end
