-- Lets a sale in, unless the door is closed or the stock is not what the run wrote last.
-- KEYS[1]  the door, there while a run is being changed
-- KEYS[2]  the run, a hash: id, lock, initial, written, max_in_flight, tuning
-- KEYS[3]  the stock
-- KEYS[4]  the sales in flight, a hash: sale -> instance of a replica
-- ARGV[1]  sale
-- ARGV[2]  instance
-- Returns  {'in', id, lock, initial, tuning}, {'closed'}, or {'changed'}: the stock was set by hand, or there is no run;
--          {'bad'}: max_in_flight is no number
if redis.call('EXISTS', KEYS[1]) == 1 then
  return {'closed'}
end
local stock = redis.call('TYPE', KEYS[3]).ok == 'string' and redis.call('GET', KEYS[3])
local run = redis.call('HMGET', KEYS[2], 'id', 'lock', 'initial', 'written', 'max_in_flight', 'tuning')
if not run[1] or not stock or stock ~= run[4] then
  return {'changed'}
end
local most = tonumber(run[5] or 0)
if not most then
  return {'bad'}
end
redis.call('HSET', KEYS[4], ARGV[1], ARGV[2])
local in_flight = redis.call('HLEN', KEYS[4])
if in_flight > most then
  redis.call('HSET', KEYS[2], 'max_in_flight', in_flight)
end
return {'in', run[1], run[2], run[3], run[6] or ''}
