-- What take.lua and sell.lua begin with: how a piece is taken from the stock and its order written down.
-- KEYS[1]  the stock
-- KEYS[2]  the run, a hash: id, sold, written, max_in_flight
-- KEYS[3]  the newest orders of the run, a hash: id of the order -> order
-- KEYS[4]  the orders before these, of the same kind
-- ARGV[1]  id of the run that the order belongs to
-- ARGV[2]  id of the order
-- ARGV[3]  order, in JSON, but for its stock_before and stock_after
-- ARGV[4]  at least so many sales of the run were in flight at once
-- ARGV[5]  how many orders make a hash full: then it becomes the older one
-- Returns  5 sold out, 2 refused for its run, 4 refused for the stock, 3 a number of the run is none: nothing is taken;
--          the order as it is written

local run = redis.call('HMGET', KEYS[2], 'id', 'sold', 'written', 'max_in_flight')

-- Takes a piece. If again is true, the order may be written down already: then this one is written beside it.
local function take(again)
  local stock = redis.pcall('GET', KEYS[1])
  if stock ~= run[3] then
    return 4
  end
  local sold, most = string.match(run[2] or '0', '^%d+$'), tonumber(run[4] or 0)
  if not sold or not most then
    return 3
  end
  if tonumber(stock) == 0 then
    return 5
  end
  local order = cjson.decode(ARGV[3])
  order.stock_before = tonumber(stock)
  order.stock_after = redis.call('DECR', KEYS[1])
  order = cjson.encode(order)
  redis.call('HSET', KEYS[2], 'written', stock - 1, 'sold', sold + 1, 'max_in_flight', math.max(most, tonumber(ARGV[4])))
  if sold > '0' and sold % ARGV[5] == 0 then
    redis.pcall('RENAME', KEYS[3], KEYS[4])
  end
  local row = ARGV[2]
  if again and redis.call('HEXISTS', KEYS[3], row) == 1 then
    row = row .. ':' .. sold + 1
  end
  redis.call('HSET', KEYS[3], row, order)
  return order
end
