package checkout

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lockstep/internal/test/suite"
)

// brokenPromise is a breakage that no buyer sees at once, with the soak that finds it, by the rule that says so.
type brokenPromise struct {
	name, file, old, new string
	soak                 string
	says                 string
}

var brokenPromises = []brokenPromise{
	{
		"a fence not checked", "util/lua/write.lua", `if tonumber(ARGV[2]) < seen then`, `if false then`,
		"--lock v10 --faults stall-replica", "✗ no update is lost",
	},
	{
		"a renewal without the owner", "util/lua/updateExpireTime.lua",
		`if redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0`, `redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`,
		"--lock v6 --faults stolen-lock", "✗ a run's stock fell by one for every order of that run",
	},
	{
		"NX dropped, under faults that allow a loss", "internal/lockv4/lock.go", `Mode: "NX"`, `Mode: ""`,
		"--lock v4 --faults late-write", "✗ a run's stock fell by one for every order of that run",
	},
	{
		"the dead keep their turn", "util/lua/queue.lua", `while head and redis.call('EXISTS', KEYS[3] .. ':' .. head) == 0 do`, `while false do`,
		"--lock v10 --faults kill-replica", "✗ sales go on within",
	},
	{
		"a lost order", "util/lua/write.lua", `redis.call('HSET', KEYS[3], ARGV[4], ARGV[5])`,
		`if ARGV[1] % 100 ~= 0 then redis.call('HSET', KEYS[3], ARGV[4], ARGV[5]) end`,
		"--lock v10 --faults kill-replica", "✗ a sale answered 200 has its one order",
	},
	{
		"a token that does not grow", "util/lua/lockFenced.lua",
		`math.max(last + 1, now[1] * 1000000 + now[2])`, `1`,
		"--lock v7 --faults kill-replica", "✗ the stock fell in the order of the fencing tokens",
	},
	{
		"a sale that takes two", "internal/service/update.go", `order.After = order.Before - 1`, `order.After = order.Before - 2`,
		"--lock v10 --faults lose-reply", "✗ a run's stock fell by one for every order of that run",
	},
	{
		"doubt told as a refusal", "internal/lock/rediserr/rediserr.go", `lock.ErrOutcomeUnknown, err)`, `lock.ErrUnavailable, err)`,
		"--lock v10 --faults lose-reply", "✗ a sale that was refused has no order",
	},
	{
		"a key that means another order each time", "internal/shop/api/idempotency.go",
		`uuid.NewSHA1(keySpace, []byte(key)).String()`, `uuid.NewString()`,
		"--lock v10 --faults buyers-leave", "✗ a buyer who repeats a sale with its key is sold to once",
	},
}

func (p brokenPromise) breakage() breakage { return breakage{p.name, p.file, p.old, p.new} }

// longestSearch is how long it may take to find a breakage.
const longestSearch = 2 * time.Minute

// Soaks find each breakage in less than two minutes: the first has one fault; on a busy machine the next, longer ones may have to. That
// they find nothing in the code as it is, is TestSoak's.
func TestTheSoakFindsEveryBrokenPromise(t *testing.T) {
	var whole version
	if suite.Long {
		suite.Needs(t, "redis-server")
		whole = breakable(t, breakages(brokenPromises))
	}
	for _, m := range brokenPromises {
		t.Run(m.name, func(t *testing.T) {
			m.breakage().source(t)
			suite.LongOnly(t, "package soak has every rule, broken once by hand")
			t.Parallel()
			broken := whole.with(t, m.breakage())
			began, all := time.Now(), strings.Builder{}
			for _, minutes := range []string{"0.1", "0.3", "0.6"} {
				code, said := runProgram(t, broken, "soak --html= --seed 1 --minutes "+minutes+" "+m.soak)
				if code == 1 && strings.Contains(said, m.says) && time.Since(began) < longestSearch {
					return
				}
				fmt.Fprintf(&all, "\n--minutes %s: exit code %d\n%s", minutes, code, said)
			}
			t.Errorf("soak %s: after %v; want exit code 1, and that it says %q:%s", m.soak, time.Since(began), m.says, &all)
		})
	}
}

// runProgram runs a command line, and gives its exit code and what it said.
func runProgram(t *testing.T, of version, arguments string) (code int, said string) {
	t.Helper()
	output, err := of.command(arguments).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		return exit.ExitCode(), string(output)
	}
	return 0, string(output)
}
