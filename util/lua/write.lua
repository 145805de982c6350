-- Writes the stock and the sale's order in one step, unless the order is known, the sale's run is over, somebody else has set the stock, or
-- the fencing token is stale.
-- KEYS[1]  the stock
-- KEYS[2]  the run, a hash: id, sold, written, max_in_flight
-- KEYS[3]  the newest orders of the run, a hash: id of the order -> order
-- KEYS[4]  the orders before these, of the same kind
-- KEYS[5]  the largest token that the store has seen
-- KEYS[6]  the segment of the stock that is written, if the stock is in segments; from KEYS[7] on the others: the stock is their sum
-- ARGV[1]  stock, or how much is left in the segment
-- ARGV[2]  token, 0 for none
-- ARGV[3]  id of the run that the order belongs to
-- ARGV[4]  id of the order
-- ARGV[5]  order, in JSON
-- ARGV[6]  at least so many sales of the run were in flight at once
-- ARGV[7]  how many orders make a hash full: then it becomes the older one
-- Returns  1 written, 0 refused for its token, 2 refused for its run, 4 refused for the stock, 3 a number of the run, or the largest token,
--          or another segment is none: nothing is written; the order as it was written, if it is known
local run = redis.call('HMGET', KEYS[2], 'id', 'sold', 'written', 'max_in_flight')
if run[1] ~= ARGV[3] then
  return 2
end
local known = redis.call('HGET', KEYS[3], ARGV[4]) or redis.call('HGET', KEYS[4], ARGV[4])
if known then
  return known
end
if redis.pcall('GET', KEYS[1]) ~= run[3] then
  return 4
end
local seen = ARGV[2] == '0' and 0 or tonumber(redis.call('GET', KEYS[5]) or 0)
local sold, most = string.match(run[2] or '0', '^%d+$'), tonumber(run[4] or 0)
if not seen or not sold or not most then
  return 3
end
local stock = ARGV[1]
for i = 7, #KEYS do
  local other = tonumber(redis.pcall('GET', KEYS[i]))
  if not other then
    return 3
  end
  stock = stock + other
end
if ARGV[2] ~= '0' then
  if tonumber(ARGV[2]) < seen then
    return 0
  end
  redis.call('SET', KEYS[5], ARGV[2])
end
if KEYS[6] then
  redis.call('SET', KEYS[6], ARGV[1])
end
redis.call('SET', KEYS[1], stock)
redis.call('HSET', KEYS[2], 'written', stock, 'sold', sold + 1, 'max_in_flight', math.max(most, tonumber(ARGV[6])))
if sold > '0' and sold % ARGV[7] == 0 then
  redis.pcall('RENAME', KEYS[3], KEYS[4])
end
redis.call('HSET', KEYS[3], ARGV[4], ARGV[5])
return 1
