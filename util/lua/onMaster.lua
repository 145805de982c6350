-- Fails with READONLY if this server is not a master. A replica answers whoever only reads, also with what is no longer so.
-- KEYS[1]  a key of the same slot, which stays as it is
-- Returns  1
local refused = redis.pcall('HDEL', KEYS[1], '') -- no hash of ours has a field without a name
if type(refused) == 'table' and string.find(refused.err, 'READONLY') then
  return refused
end
return 1
