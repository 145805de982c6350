-- Writes the stock and its order for the holder of a lock, unless its token is stale, or its run is over.
-- KEYS[1]  the stock
-- KEYS[2]  the largest token that the store has seen
-- KEYS[3]  the run, a hash: id, written
-- KEYS[4]  the orders of the run, a list
-- ARGV[1]  token
-- ARGV[2]  stock
-- ARGV[3]  order
-- ARGV[4]  id of the run that the order belongs to
-- Returns  1 written, 0 refused for its token, 2 for its run
if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[2]) or 0) then
  return 0
end
if (redis.call('HGET', KEYS[3], 'id') or ARGV[4]) ~= ARGV[4] then
  return 2
end
redis.call('SET', KEYS[2], ARGV[1])
redis.call('SET', KEYS[1], ARGV[2])
redis.call('HSET', KEYS[3], 'written', ARGV[2])
redis.call('RPUSH', KEYS[4], ARGV[3])
return 1
