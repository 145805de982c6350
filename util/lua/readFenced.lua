-- Reads the stock for the holder of a lock, unless its token is stale.
-- KEYS[1]  the stock
-- KEYS[2]  the largest token that the store has seen
-- ARGV[1]  token
-- Returns  {1, stock}, or {1} if there is none, {2} if it is no string; {0} refused
if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[2]) or 0) then
  return {0}
end
redis.call('SET', KEYS[2], ARGV[1])
local stock = redis.pcall('GET', KEYS[1])
if type(stock) == 'table' then
  return {2}
end
return {1, stock or nil}
