-- Renews a replica's place among the living, tells what it is doing, and asks what there is to know. Who tells forgets those that were
-- silent too long, and those that would live for longer than any replica does: they told it before the clock went back.
-- KEYS[1]  the replicas, a hash: replica -> the time at which it counts as dead, in ms of Redis's clock, and what it told last, in JSON
-- KEYS[2]  the run, a hash
-- KEYS[3]  the newest orders of the run that the replica is in
-- KEYS[4]  the lock that is held while the run is changed, a hash: owner -> 1
-- KEYS[5]  the stock
-- ARGV[1]  replica
-- ARGV[2]  what it tells, in JSON, '' for nothing: then it only asks
-- ARGV[3]  for how many milliseconds it lives
-- ARGV[4]  for how many seconds an order stays at least
-- Returns  {run, owner, living, future, stock}: the fields of the run, and their values; the owner of the lock, '' for none; the replicas
--          that live, and those from the future, with what they told; the stock, {} if it is no string; without one, the first four
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local told, living, future = redis.call('HGETALL', KEYS[1]), {}, {}
local run = redis.call('HGETALL', KEYS[2])
local owner = redis.call('HKEYS', KEYS[4])[1] or ''
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], '') -- a replica of Redis refuses it: what it has may be no longer so
else
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%d %s', now + ARGV[3], ARGV[2])) -- first: it is refused if memory is short
end
for i = 1, #told, 2 do
  local dies = tonumber(string.match(told[i + 1], '^%d+')) or 0
  if told[i] ~= ARGV[1] then
    if dies > now then
      local replicas = dies > now + ARGV[3] and future or living
      table.insert(replicas, told[i])
      table.insert(replicas, told[i + 1])
    end
    if ARGV[2] ~= '' and (dies <= now or dies > now + ARGV[3]) then
      redis.call('HDEL', KEYS[1], told[i])
    end
  end
end
redis.call('EXPIRE', KEYS[3], ARGV[4])
local stock = redis.pcall('GET', KEYS[5])
if type(stock) == 'table' and not string.find(stock.err, '^WRONGTYPE') then
  return stock -- GET itself is refused
end
return {run, owner, living, future, type(stock) == 'table' and {} or stock or nil}
