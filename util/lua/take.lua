-- Takes one piece from the stock, if there is one, and writes the order down.
-- KEYS[1]  the stock
-- KEYS[2]  the run, a hash: written
-- KEYS[3]  the orders of the run, a list
-- ARGV[1]  order, in JSON, but for its stock_before and stock_after
-- Returns  {1, stock before} taken, {0, stock} not taken, {0} there is no stock, {2} it is no string
local stock = redis.pcall('GET', KEYS[1])
if type(stock) == 'table' then
  return {2}
end
if not stock then
  return {0}
end
if not string.match(stock, '^%d+$') or tonumber(stock) == 0 then
  return {0, stock}
end
local order = cjson.decode(ARGV[1])
order.stock_before = tonumber(stock)
order.stock_after = redis.call('DECR', KEYS[1])
redis.call('HSET', KEYS[2], 'written', order.stock_after)
redis.call('RPUSH', KEYS[3], cjson.encode(order))
return {1, stock}
