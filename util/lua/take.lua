-- Takes one piece from the stock, if there is one, and writes the order down, unless the sale's run is over.
-- KEYS[1]  the stock
-- KEYS[2]  the run, a hash: id, written, sold
-- KEYS[3]  the newest orders of the run, a hash: id of the order -> order
-- KEYS[4]  the orders before these, of the same kind
-- ARGV[1]  id of the run that the order belongs to
-- ARGV[2]  id of the order
-- ARGV[3]  order, in JSON, but for its stock_before and stock_after
-- ARGV[4]  how many orders make a hash full: then it becomes the older one
-- ARGV[5]  for how many seconds an order stays at least
-- ARGV[6]  the largest stock there may be
-- Returns  {1, stock before} taken, {0, stock} not taken, {0} there is no stock, {2} it is no string, {3} the run is over,
--          {4} sold is no number
local run = redis.call('HMGET', KEYS[2], 'id', 'sold')
if run[1] ~= ARGV[1] then
  return {3}
end
local stock = redis.pcall('GET', KEYS[1])
if type(stock) == 'table' then
  return {2}
end
if not stock then
  return {0}
end
if not string.match(stock, '^%d+$') or tonumber(stock) == 0 or tonumber(stock) > tonumber(ARGV[6]) then
  return {0, stock}
end
local sold = string.match(run[2] or '0', '^%d+$')
if not sold then
  return {4}
end
local full = redis.call('HLEN', KEYS[3]) >= tonumber(ARGV[4]) -- what a key of another type can fail comes before the first write
local order = cjson.decode(ARGV[3])
order.stock_before = tonumber(stock)
order.stock_after = redis.call('DECR', KEYS[1])
redis.call('HSET', KEYS[2], 'written', order.stock_after, 'sold', sold + 1)
if full then
  redis.call('UNLINK', KEYS[4])
  redis.call('RENAME', KEYS[3], KEYS[4])
end
redis.call('HSET', KEYS[3], ARGV[2], cjson.encode(order))
redis.call('EXPIRE', KEYS[3], ARGV[5])
return {1, stock}
