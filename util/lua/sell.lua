-- As take.lua, but nothing looks whether the order is known: each time that the command arrives, a piece is taken.
if run[1] ~= ARGV[1] then
  return 2
end
return take(true)
