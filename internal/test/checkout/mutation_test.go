package checkout

import (
	"encoding/json"
	"strings"
	"testing"

	"lockstep/internal/test/suite"
)

// mutant is a small breakage of a lock, with a command that must find it, and must find nothing in the code as it is.
type mutant struct {
	name, file, old, new string
	explore              string
	finds                string
}

var mutants = []mutant{
	{
		"NX dropped", "internal/lockv1/lock.go", `Mode: "NX"`, `Mode: ""`,
		"v1", "two-holders",
	},
	{
		"NX dropped, with an expiry", "internal/lockv2/lock.go", `Mode: "NX", `, ``,
		"v2", "two-holders",
	},
	{
		"expiry dropped", "internal/lockv2/lock.go", `, TTL: l.opts.TTL`, ``,
		"v2 --faults crash=1", "left-behind",
	},
	{
		"unlock forgotten", "internal/lockv1/unlock.go", `l.client.Del(ctx, l.opts.Key)`, `l.client.Exists(ctx, l.opts.Key)`,
		"v1", "left-behind",
	},
	{
		"a key for each owner", "internal/lockv4/lock.go", `SetArgs(ctx, l.opts.Key, owner`, `SetArgs(ctx, "{"+l.opts.Key+"}:"+owner, owner`,
		"v4", "two-holders",
	},
	{
		"compare dropped in Go", "internal/lockv3/unlock.go", `case holder != owner`, `case holder == ""`,
		"v3 --work 15s --anomaly foreign-release", "foreign-release",
	},
	{
		"compare dropped in Lua", "util/lua/compareAndDelete.lua", `if holder == ARGV[1] then`, `if holder then`,
		"v4 --faults expiry=1 --anomaly foreign-release", "foreign-release",
	},
	{
		"owners compared by order", "util/lua/compareAndDelete.lua", `if holder == ARGV[1] then`, `if holder and holder <= ARGV[1] then`,
		"v4 --faults expiry=1 --anomaly foreign-release", "foreign-release",
	},
	{
		"native release without the owner", "internal/lock/delex/unlock.go",
		`redis.DelExArgs{Mode: "IFEQ", MatchValue: owner}`, `redis.DelExArgs{}`,
		"delex --faults expiry=1 --anomaly foreign-release", "foreign-release",
	},
	{
		"native release of every other owner's", "internal/lock/delex/unlock.go", `Mode: "IFEQ"`, `Mode: "IFNE"`,
		"delex --faults expiry=1 --anomaly foreign-release", "foreign-release",
	},
	{
		"native release that says nothing", "internal/lock/delex/unlock.go", `case deleted == 0:`, `case deleted < 0:`,
		"delex --faults expiry=1 --anomaly false-word", "false-word",
	},
	{
		"lock taken whoever has it", "util/lua/lock.lua", `redis.call('EXISTS', KEYS[1]) == 0 or`, `true or`,
		"v5", "two-holders",
	},
	{
		"not reentrant", "util/lua/lock.lua", `or redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1`, ``,
		"v5 --nested 1", "self-deadlock",
	},
	{
		"reentrant lock without an expiry", "util/lua/lock.lua", `redis.call('PEXPIRE', KEYS[1], ARGV[2])`, ``,
		"v5 --faults crash=1", "left-behind",
	},
	{
		"unlock without the count", "util/lua/unlock.lua", `if tonumber(count) > 1 then`, `if false then`,
		"v5 --nested 1 --anomaly two-holders", "two-holders",
	},
	{
		"unlock without the owner", "util/lua/unlock.lua", `if type(count) ~= 'string' then`, `count = '1' if false then`,
		"v5 --faults expiry=1 --anomaly foreign-release", "foreign-release",
	},
	{
		"renewal without the owner", "util/lua/updateExpireTime.lua", `if redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1 then`, `if true then`,
		"v6 --faults expiry=1,slow=1 --anomaly foreign-release", "foreign-release",
	},
	{
		"renewal not stopped", "internal/lockv6/lock.go", `		renewal.Stop() // waits`, `		// waits`,
		"v6", "goroutine-leak",
	},
	{
		"renewal not waited for", "internal/lock/renew.go", `	_ = r.opts.Clock.Wait(context.Background(), r.done)`, ``,
		"v6 --work 25s --faults slow=1", "goroutine-leak",
	},
	{
		"local deadline too late", "internal/lock/renew.go", `	r.expireAfter(sent)
	opts`, `	r.expireAfter(sent.Add(opts.TTL))
	opts`,
		"v6 --faults expiry=1 --anomaly two-holders", "two-holders",
	},
	{
		"deadline counted from the reply", "internal/lock/renew.go",
		`	r.expireAfter(sent)
	opts`, `	r.expireAfter(opts.Clock.Now())
	opts`,
		"v6 --faults pause=1 --anomaly untold", "untold",
	},
	{
		"loss not told", "internal/lock/renew.go", `		cancel(ErrLost)
	}
}`, `		_ = cancel
	}
}`,
		"v6 --faults expiry=1 --anomaly untold", "untold",
	},
	{
		"unlock under a cancelled context", "internal/lock/lock.go", `context.WithoutCancel(ctx)`, `ctx`,
		"v1 --faults cancel=1", "left-behind",
	},
	{
		"stock not watched", "internal/dao/watch.go", `}, InventoryKey)`, `}, RunKey)`,
		"optimistic", "lost-update",
	},
	{
		"token that does not grow", "util/lua/lockFenced.lua",
		`math.max(last + 1, now[1] * 1000000 + now[2])`, `1`,
		"v7 --faults pause=1 --anomaly lost-update", "lost-update",
	},
	{
		"token that Redis forgets", "util/lua/lockFenced.lua", `math.max(last + 1, now[1] * 1000000 + now[2])`, `last + 1`,
		"v7 --faults rollback=1 --anomaly lost-update", "lost-update",
	},
	{
		"token not given to the sale", "internal/lockv7/lock.go", `l.opts.Clock, reply[1], func`, `l.opts.Clock, 0, func`,
		"v7 --faults pause=1 --anomaly lost-update", "lost-update",
	},
	{
		"stale write accepted", "util/lua/write.lua",
		`if tonumber(ARGV[2]) < seen then`, `if false then`,
		"v7 --faults pause=1 --anomaly lost-update", "lost-update",
	},
	{
		"token of a read not seen", "util/lua/readFenced.lua", `redis.call('SET', KEYS[3], ARGV[1])`, ``,
		"v7 --faults expiry=1 --anomaly lost-update", "lost-update",
	},
	{
		"turn passed to nobody", "internal/lock/queue.go", `	q.turn <- struct{}{}
}

// reenter`, `	if q.Waiting() > 0 {
		return
	}
	q.turn <- struct{}{}
}

// reenter`,
		"v8 --replicas 1", "stuck",
	},
	{
		"a newcomer before those who wait", "internal/lock/queue.go", `if q.Waiting() > 0 {`, `if false {`,
		"v8 --sales 3 --replicas 1 --anomaly starved", "starved",
	},
	{
		"no line", "internal/lock/queue.go", `	q.turn <- struct{}{}
	return q`, `	q.turn = make(chan struct{}, 1000)
	for range cap(q.turn) {
		q.turn <- struct{}{}
	}
	return q`,
		"v8 --sales 3 --replicas 1 --anomaly starved", "starved",
	},
	{
		"turn not ended by a sale that fails", "internal/lock/queue.go", `		q.Leave(ctx, err)
		return nil, err`, `		return nil, err`,
		"v8 --actors 3 --replicas 2 --faults cancel=1", "stuck",
	},
	{
		"turn that came too late not given back", "internal/lock/queue.go", `		if q.TryEnter(context.WithoutCancel(ctx), owner) == nil {`,
		`		if false {`,
		"v9 --replicas 1 --faults cancel=1", "goroutine-leak",
	},
	{
		"queue not idle after a turn that came too late", "internal/lock/queue.go", `			q.Leave(ctx, nil)
		}
		return WaitError`, `			q.turn <- struct{}{}
		}
		return WaitError`,
		"v10 --replicas 1 --faults timeout=1", "goroutine-leak",
	},
	{
		"turn that came too late kept", "internal/lock/queue.go", `			q.Leave(ctx, nil)
		}
		return WaitError`, `		}
		return WaitError`,
		"v8 --actors 3 --replicas 1 --faults cancel=1", "stuck",
	},
	{
		"known order taken", "util/lua/take.lua",
		`return redis.call('HGET', KEYS[3], ARGV[2]) or redis.call('HGET', KEYS[4], ARGV[2]) or`, `return`,
		"atomic --faults resend=1", "double-sale",
	},
	{
		"known order written", "util/lua/write.lua", `if known then`, `if false then`,
		"v0 --actors 1 --faults resend=1 --anomaly double-sale", "double-sale",
	},
	{
		"nested call not recognised", "internal/lock/queue.go", `q.owner != owner {`, `true {`,
		"v9 --nested 1", "stuck",
	},
	{
		"token not changed by a hand-off", "internal/lock/cohort.go", `		held.Token++`, `		_ = held`,
		"v9 --replicas 1 --anomaly token-order", "token-order",
	},
	{
		"the process's own name used again", "internal/lockv10/lock.go",
		`	owner = lock.ProcessOwner(l.opts.Process, owner)`, `	owner = lock.Owner(l.opts.Process)`,
		"v10 --replicas 1 --faults late=1 --anomaly token-order", "token-order",
	},
	{
		"queue overtaken", "util/lua/acquire.lua", `and (not head or head == ARGV[4]) then`, `then`,
		"v10 --actors 4 --anomaly starved", "starved",
	},
	{
		"release without the owner", "util/lua/release.lua", `if type(count) ~= 'string' then`, `count = '1' if false then`,
		"v10 --faults expiry=1 --anomaly foreign-release", "foreign-release",
	},
	{
		"acquire without a token that grows", "util/lua/acquire.lua",
		`math.max(last + 1, now[1] * 1000000 + now[2])`, `1`,
		"v10 --faults pause=1 --anomaly lost-update", "lost-update",
	},
	{
		"only messages wake", "internal/lockv10/lock.go", `l.turn.Wait(wait, l.opts.TTL/4)`, `l.turn.Wait(wait, 1000*time.Hour)`,
		"v10 --faults lost-wake=1", "stuck",
	},
	{
		"kept lock stays kept while it is used", "internal/lockv11/unlock.go", `	l.kept = nil
	return k`, `	return k`,
		"v11 --actors 3 --replicas 2 --try 2", "foreign-release",
	},
	{
		"lock kept that is given back", "internal/lockv11/unlock.go", `	l.kept, l.wanted = nil, true`, `	l.wanted = true`,
		"v11 --actors 3 --replicas 2 --try 2", "foreign-release",
	},
	{
		"kept lock used past its expiry", "internal/lockv11/lock.go", ` || !l.fresh(k.sent):
		_ = l.giveBack(ctx, k) // or it expires
		return nil
	}
`, `:
		return nil
	}
	k.sent = l.opts.Clock.Now()
`,
		"v11 --actors 3 --replicas 2 --try 3 --faults expiry=1 --anomaly two-holders", "two-holders",
	},
	{
		"minority accepted", "internal/lock/quorum/quorum.go", `len(n.all)/2 + 1`, `len(n.all) / 2`,
		"redlock --try 2", "two-holders",
	},
	{
		"set whoever has the node", "internal/lock/redlock/lock.go", `Mode: "NX", `, ``,
		"redlock --try 2", "foreign-release",
	},
	{
		"nodes released without the owner", "util/lua/compareAndDelete.lua", `if holder == ARGV[1] then`, `if holder then`,
		"redlock --try 2", "foreign-release",
	},
	{
		"turn not handed back", "internal/lock/contrast/local.go", `		l.turn <- struct{}{}
		return nil`, `		return nil`,
		"local --replicas 1", "stuck",
	},
	{
		"a second turn", "internal/lock/contrast/local.go", `make(chan struct{}, 1)}
	l.turn <- struct{}{}`, `make(chan struct{}, 2)}
	l.turn <- struct{}{}
	l.turn <- struct{}{}`,
		"local --replicas 1", "two-holders",
	},
}

func (m mutant) breakage() breakage { return breakage{m.name, m.file, m.old, m.new} }

func TestTheExplorerFindsEveryMutant(t *testing.T) {
	var whole version
	if suite.Long {
		whole = breakable(t, breakages(mutants))
	}
	holds := map[string]bool{} // what is explored without any breakage, once for all mutants that ask for it
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			m.breakage().source(t)
			suite.LongOnly(t, "package variants has locks with the same flaws")
			t.Parallel()
			if verdict := exploreWith(t, whole.with(t, m.breakage()), m.explore); verdict != "broken "+m.finds {
				t.Errorf("explore %s: %s; want it to find %s", m.explore, verdict, m.finds)
			}
		})
		if holds[m.explore] || !suite.Long {
			continue
		}
		holds[m.explore] = true
		t.Run("no mutant: "+m.explore, func(t *testing.T) {
			t.Parallel()
			if verdict := exploreWith(t, whole, m.explore); verdict != "holds" {
				t.Errorf("explore %s: %s without any breakage", m.explore, verdict)
			}
		})
	}
}

// exploreWith explores, and gives the verdict, with the anomaly that was found.
func exploreWith(t *testing.T, of version, arguments string) string {
	t.Helper()
	output, err := of.command("explore --json " + arguments).Output()
	var found struct {
		Verdict        string
		Counterexample struct{ Anomaly string }
	}
	if bad := json.Unmarshal(output, &found); bad != nil {
		t.Fatalf("explore %s: %v: %v: %s", arguments, err, bad, output)
	}
	return strings.TrimSpace(found.Verdict + " " + found.Counterexample.Anomaly)
}
