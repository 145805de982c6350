-- Writes the stock and the sale's order in one step, unless the sale's run is over or its fencing token is stale.
-- KEYS[1]  the stock
-- KEYS[2]  the run, a hash: id, written, sold
-- KEYS[3]  the newest orders of the run, a hash: id of the order -> order
-- KEYS[4]  the orders before these, of the same kind
-- KEYS[5]  the largest token that the store has seen
-- ARGV[1]  stock
-- ARGV[2]  token, 0 for none
-- ARGV[3]  id of the run that the order belongs to
-- ARGV[4]  id of the order
-- ARGV[5]  order, in JSON
-- ARGV[6]  how many orders make a hash full: then it becomes the older one
-- ARGV[7]  for how many seconds an order stays at least
-- Returns  1 written, 0 refused for its token, 2 refused for its run, 3 sold or the largest token is no number: nothing is written
local run = redis.call('HMGET', KEYS[2], 'id', 'sold')
if run[1] ~= ARGV[3] then
  return 2
end
local sold = string.match(run[2] or '0', '^%d+$')
local full = redis.call('HLEN', KEYS[3]) >= tonumber(ARGV[6]) -- what a key of another type can fail comes before the first write
local seen = ARGV[2] == '0' and 0 or tonumber(redis.call('GET', KEYS[5]) or 0)
if not sold or not seen then
  return 3
end
if ARGV[2] ~= '0' then
  if tonumber(ARGV[2]) < seen then
    return 0
  end
  redis.call('SET', KEYS[5], ARGV[2])
end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], 'written', ARGV[1], 'sold', sold + 1)
if full then
  redis.call('UNLINK', KEYS[4])
  redis.call('RENAME', KEYS[3], KEYS[4])
end
redis.call('HSET', KEYS[3], ARGV[4], ARGV[5])
redis.call('EXPIRE', KEYS[3], ARGV[7])
return 1
