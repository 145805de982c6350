-- Begins a run, unless another one has begun since the caller looked. Of the runs that are over it forgets the oldest ones' orders, if
-- there are too many.
-- KEYS[1]  the stock
-- KEYS[2]  the run, a hash: id, lock, initial, written, sold, max_in_flight, settings, tuning, forgot, segments
-- KEYS[3]  the runs that are over, a list of their ids, newest first
-- KEYS[4]  the largest token that the store has seen; the lock may count anew
-- KEYS[5…] the segments of the stock, in this run or in the last; <segment>:fence is the largest token of one
-- ARGV[1]  id of the run that ends, '' for none
-- ARGV[2]  id of the run that begins
-- ARGV[3]  its lock
-- ARGV[4]  its stock
-- ARGV[5]  its settings
-- ARGV[6]  what the keys of orders begin with; the run's id follows, and ':older' in the second
-- ARGV[7]  for how many seconds they stay
-- ARGV[8]  how many orders of runs that are over stay at least
-- ARGV[9]  of how many runs that are over
-- ARGV[10] its tuning
-- ARGV[11] 1 if Redis had forgotten the run before it, or its stock
-- ARGV[12] in how many segments its stock is, 0 if it is in none
-- Returns  1 begun, 0 another one has
if (redis.call('HGET', KEYS[2], 'id') or '') ~= ARGV[1] then
  return 0
end
local over, kept, dropped = redis.call('LRANGE', KEYS[3], 0, -1), 0, {}
if ARGV[1] ~= '' then
  table.insert(over, 1, ARGV[1])
end
for i, run in ipairs(over) do -- what a key of another type can fail comes before the first write
  local newest = ARGV[6] .. run
  local orders = redis.call('HLEN', newest) + redis.call('HLEN', newest .. ':older')
  if kept >= tonumber(ARGV[8]) or i > tonumber(ARGV[9]) then
    table.insert(dropped, run)
  end
  kept = kept + orders
end
for i = 5, #KEYS do
  redis.call('DEL', KEYS[i], KEYS[i] .. ':fence')
end
redis.call('DEL', KEYS[2], KEYS[4])
redis.call('HSET', KEYS[2], 'id', ARGV[2], 'lock', ARGV[3], 'initial', ARGV[4], 'written', ARGV[4], 'sold', 0, 'max_in_flight', 0,
  'settings', ARGV[5], 'tuning', ARGV[10], 'forgot', ARGV[11], 'segments', ARGV[12])
for i = 1, tonumber(ARGV[12]) do -- equal ones, but for what is left over
  redis.call('SET', KEYS[4 + i], math.floor((ARGV[4] + ARGV[12] - i) / ARGV[12]))
end
redis.call('SET', KEYS[1], ARGV[4])
if ARGV[1] == '' then
  return 1
end
redis.call('LPUSH', KEYS[3], ARGV[1])
redis.call('EXPIRE', ARGV[6] .. ARGV[1], ARGV[7])
redis.call('EXPIRE', KEYS[3], ARGV[7])
for _, run in ipairs(dropped) do
  redis.call('UNLINK', ARGV[6] .. run, ARGV[6] .. run .. ':older')
  redis.call('LREM', KEYS[3], 0, run)
end
return 1
