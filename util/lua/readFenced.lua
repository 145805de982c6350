-- Reads the stock for the holder of a lock, unless the sale's run is over or its fencing token is stale.
-- KEYS[1]  the stock
-- KEYS[2]  the run, a hash: id
-- KEYS[3]  the largest token that the store has seen
-- ARGV[1]  token
-- ARGV[2]  id of the run that the sale belongs to
-- Returns  {1, stock}, or {1} if there is none; {0} refused for its token, {2} refused for its run, {3} the largest token is no number,
--          {1, {}} the stock is no string
if redis.call('HGET', KEYS[2], 'id') ~= ARGV[2] then
  return {2} -- before its token is looked at: it counts among those of its own run
end
local seen = tonumber(redis.call('GET', KEYS[3]) or 0)
if not seen then
  return {3}
end
if tonumber(ARGV[1]) < seen then
  return {0}
end
redis.call('SET', KEYS[3], ARGV[1])
local stock = redis.pcall('GET', KEYS[1])
return {1, type(stock) == 'table' and {} or stock or nil}
