-- Renews a replica's place among the living, tells what it is doing, and asks what there is to know. Forgets those that were silent too
-- long.
-- KEYS[1]  the replicas, a hash: replica -> the time at which it counts as dead, in ms of Redis's clock, and what it told last, in JSON
-- KEYS[2]  the run, a hash
-- KEYS[3]  the newest orders of the run that the replica is in
-- KEYS[4]  the lock that is held while the run is changed, a hash: owner -> 1
-- KEYS[5]  the stock
-- ARGV[1]  replica
-- ARGV[2]  what it tells, in JSON, '' for nothing: then it only asks
-- ARGV[3]  for how many milliseconds it lives
-- ARGV[4]  for how many seconds an order stays at least
-- Returns  {run, owner, living, stock}: the fields of the run, and their values; the owner of the lock, '' for none; the replicas that
--          live, and what they told; the stock, {} if it is no string; without one, the first three
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local told, living = redis.call('HGETALL', KEYS[1]), {}
local run = redis.call('HGETALL', KEYS[2])
local owner = redis.call('HKEYS', KEYS[4])[1] or ''
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], '') -- a replica of Redis refuses it: what it has may be no longer so
else
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%d %s', now + ARGV[3], ARGV[2])) -- first: it is refused if memory is short
end
for i = 1, #told, 2 do
  local dies = tonumber(string.match(told[i + 1], '^%d+')) or 0
  if told[i] ~= ARGV[1] and dies > now and dies <= now + ARGV[3] then -- one from the future was told before the clock went back
    table.insert(living, told[i])
    table.insert(living, told[i + 1])
  elseif told[i] ~= ARGV[1] then
    redis.call('HDEL', KEYS[1], told[i])
  end
end
redis.call('EXPIRE', KEYS[3], ARGV[4])
local stock = redis.pcall('GET', KEYS[5])
return {run, owner, living, type(stock) == 'table' and {} or stock or nil}
