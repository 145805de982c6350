-- Takes one piece from the stock, if there is one, and writes the order down, unless the order is known, the sale's run is over, or
-- somebody else has set the stock. If the order is known, it returns it as it was written.
if run[1] ~= ARGV[1] then
  return 2
end
return redis.call('HGET', KEYS[3], ARGV[2]) or redis.call('HGET', KEYS[4], ARGV[2]) or take(false)
