-- What acquire.lua, acquireOrAsk.lua and release.lua begin with: the queue of processes that wait for the lock.
-- KEYS[3]  the queue, a list of processes; KEYS[3]:<process> is the owner that waits for one, and lives while that is heard of

-- Gives the first process that lives; drops the dead ones before it.
local function first()
  local head = redis.call('LINDEX', KEYS[3], 0)
  while head and redis.call('EXISTS', KEYS[3] .. ':' .. head) == 0 do
    redis.call('LPOP', KEYS[3])
    head = redis.call('LINDEX', KEYS[3], 0)
  end
  return head
end

-- Tells the first process that it is its turn.
local function wake(channels)
  local head = first()
  if head then
    redis.call('PUBLISH', channels .. head, '')
  end
end
