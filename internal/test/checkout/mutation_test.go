package checkout

import (
	"strings"
	"testing"

	"lockstep/internal/test/suite"
)

// breakage is a small change of a file that undoes what the code promises. Each command of found has to find it, with what it then says.
type breakage struct{ name, file, old, new, found string }

var breakages = []breakage{
	{"NX dropped", "internal/lockv1/lock.go", `Mode: "NX"`, `Mode: ""`, "explore v1 => two-holders; lab lost-update --lock v1"},
	{
		"expiry dropped", "internal/lockv2/lock.go", `, TTL: l.opts.TTL`, ``,
		"explore v2 --faults crash=1 => left-behind; lab holder-dies --lock v2",
	},
	{
		"unlock forgotten", "internal/lockv1/unlock.go", `l.client.Del(ctx, l.opts.Key)`, `l.client.Exists(ctx, l.opts.Key)`,
		"explore v1 => left-behind",
	},
	{
		"a key for each owner", "internal/lockv4/lock.go",
		`SetArgs(ctx, l.opts.Key, owner`, `SetArgs(ctx, "{"+l.opts.Key+"}:"+owner, owner`,
		"explore v4 => two-holders",
	},
	{
		"compare dropped in Go", "internal/lockv3/unlock.go", `case holder != owner`, `case holder == ""`,
		"explore v3 --work 15s --anomaly foreign-release; lab foreign-delete --lock v3",
	},
	{
		"compare dropped in Lua", "util/lua/compareAndDelete.lua", `if holder == ARGV[1] then`, `if holder then`,
		"explore v4 --faults expiry=1 --anomaly foreign-release; " +
			"explore redlock --try 2 => foreign-release; " +
			"lab check-then-delete --lock v4",
	},
	{
		"native release without the owner", "internal/lock/delex/unlock.go",
		`redis.DelExArgs{Mode: "IFEQ", MatchValue: owner}`, `redis.DelExArgs{}`,
		"explore delex --faults expiry=1 --anomaly foreign-release",
	},
	{
		"native release that says nothing", "internal/lock/delex/unlock.go", `case deleted == 0:`, `case deleted < 0:`,
		"explore delex --faults expiry=1 --anomaly false-word",
	},
	{"lock taken whoever has it", "util/lua/lock.lua", `redis.call('EXISTS', KEYS[1]) == 0 or`, `true or`, "explore v5 => two-holders"},
	{
		"not reentrant", "util/lua/lock.lua", `or redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1`, ``,
		"explore v5 --nested 1 => self-deadlock; lab self-deadlock --lock v5",
	},
	{
		"reentrant lock without an expiry", "util/lua/lock.lua", `redis.call('PEXPIRE', KEYS[1], ARGV[2])`, ``,
		"explore v5 --faults crash=1 => left-behind",
	},
	{
		"unlock without the count", "util/lua/unlock.lua", `if tonumber(count) > 1 then`, `if false then`,
		"explore v5 --nested 1 --anomaly two-holders",
	},
	{
		"unlock without the owner", "util/lua/unlock.lua", `if type(count) ~= 'string' then`, `count = '1' if false then`,
		"explore v5 --faults expiry=1 --anomaly foreign-release",
	},
	{
		"renewal without the owner", "util/lua/updateExpireTime.lua",
		`if redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1 then`, `if true then`,
		"explore v6 --faults expiry=1,slow=1 --anomaly foreign-release; " +
			"soak --lock v6 --faults stolen-lock => ✗ the stock of a run fell by one for each of its orders",
	},
	{"renewal not stopped", "internal/lockv6/lock.go", `		renewal.Stop() // waits`, `		// waits`, "explore v6 => goroutine-leak"},
	{
		"renewal not waited for", "internal/lock/renew.go", `	_ = r.opts.Clock.Wait(context.Background(), r.done)`, ``,
		"explore v6 --work 25s --faults slow=1 => goroutine-leak",
	},
	{
		"local deadline too late", "internal/lock/renew.go", `	r.expireAfter(sent)
	opts`, `	r.expireAfter(sent.Add(opts.TTL))
	opts`,
		"explore v6 --faults expiry=1 --anomaly two-holders",
	},
	{
		"deadline counted from the reply", "internal/lock/renew.go", `	r.expireAfter(sent)
	opts`, `	r.expireAfter(opts.Clock.Now())
	opts`,
		"explore v6 --faults pause=1 --anomaly untold",
	},
	{
		"loss not told", "internal/lock/renew.go", `		cancel(ErrLost)
	}
}`, `		_ = cancel
	}
}`,
		"explore v6 --faults expiry=1 --anomaly untold",
	},
	{
		"unlock under a cancelled context", "internal/lock/lock.go", `context.WithoutCancel(ctx)`, `ctx`,
		"explore v1 --faults cancel=1 => left-behind; lab cancelled-request --lock v4",
	},
	{"stock not watched", "internal/dao/watched_stock.go", `}, InventoryKey)`, `}, "{inventory}:other")`, "explore optimistic => lost-update"},
	{
		"token that does not grow", "util/lua/lockFenced.lua", `math.max(last + 1, now[1] * 1000000 + now[2])`, `1`,
		"explore v7 --faults pause=1 --anomaly lost-update; " +
			"soak --lock v7 --faults kill-replica => ✗ the stock fell in the order of the fencing tokens",
	},
	{
		"token that Redis forgets", "util/lua/lockFenced.lua", `math.max(last + 1, now[1] * 1000000 + now[2])`, `last + 1`,
		"explore v7 --faults rollback=1 --anomaly lost-update",
	},
	{
		"token not given to the sale", "internal/lockv7/lock.go", `l.opts.Clock, reply[1], func`, `l.opts.Clock, 0, func`,
		"explore v7 --faults pause=1 --anomaly lost-update",
	},
	{
		"stale write accepted", "util/lua/write.lua", `if tonumber(ARGV[2]) < seen then`, `if false then`,
		"explore v7 --faults pause=1 --anomaly lost-update; " +
			"lab paused-writer --lock v7; " +
			"soak --lock v10 --faults stall-replica => ✗ no update is lost",
	},
	{
		"token of a read not seen", "util/lua/readFenced.lua", `redis.call('SET', KEYS[3], ARGV[1])`, ``,
		"explore v7 --faults expiry=1 --anomaly lost-update",
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
		"explore v8 --replicas 1 => stuck",
	},
	{
		"a newcomer before those who wait", "internal/lock/queue.go", `if q.Waiting() > 0 {`, `if false {`,
		"explore v8 --sales 3 --replicas 1 --anomaly starved",
	},
	{
		"no line", "internal/lock/queue.go", `	q.turn <- struct{}{}
	return q`, `	q.turn = make(chan struct{}, 1000)
	for range cap(q.turn) {
		q.turn <- struct{}{}
	}
	return q`,
		"explore v8 --sales 3 --replicas 1 --anomaly starved",
	},
	{
		"turn not ended by a sale that fails", "internal/lock/queue.go", `		q.Leave(ctx, err)
		return nil, err`, `		return nil, err`,
		"explore v8 --actors 3 --replicas 2 --faults cancel=1 => stuck",
	},
	{
		"turn that came too late not given back", "internal/lock/queue.go",
		`		if q.TryEnter(context.WithoutCancel(ctx), owner) == nil {`, `		if false {`,
		"explore v9 --replicas 1 --faults cancel=1 => goroutine-leak",
	},
	{
		"queue not idle after a turn that came too late", "internal/lock/queue.go", `			q.Leave(ctx, nil)
		}
		return WaitError`, `			q.turn <- struct{}{}
		}
		return WaitError`,
		"explore v10 --replicas 1 --faults timeout=1 => goroutine-leak",
	},
	{
		"turn that came too late kept", "internal/lock/queue.go", `			q.Leave(ctx, nil)
		}
		return WaitError`, `		}
		return WaitError`,
		"explore v8 --actors 3 --replicas 1 --faults cancel=1 => stuck",
	},
	{
		"known order taken", "util/lua/take.lua",
		`return redis.call('HGET', KEYS[3], ARGV[2]) or redis.call('HGET', KEYS[4], ARGV[2]) or`, `return`,
		"explore atomic --faults resend=1 => double-sale; lab resent-command --lock atomic",
	},
	{
		"known order written", "util/lua/write.lua", `if known then`, `if false then`,
		"explore v0 --actors 1 --faults resend=1 --anomaly double-sale; lab resent-command --lock optimistic",
	},
	{"nested call not recognised", "internal/lock/queue.go", `q.owner != owner {`, `true {`, "explore v9 --nested 1 => stuck"},
	{
		"token not changed by a hand-off", "internal/lock/cohort.go", `		held.Token++`, `		_ = held`,
		"explore v9 --replicas 1 --anomaly token-order",
	},
	{
		"the process's own name used again", "internal/lockv10/lock.go",
		`	owner = lock.ProcessOwner(l.opts.Process, owner)`, `	owner = lock.Owner(l.opts.Process)`,
		"explore v10 --replicas 1 --faults late=1 --anomaly token-order",
	},
	{
		"queue overtaken", "util/lua/acquire.lua", `and (not head or head == ARGV[4]) then`, `then`,
		"explore v10 --actors 4 --anomaly starved",
	},
	{
		"release without the owner", "util/lua/release.lua", `if type(count) ~= 'string' then`, `count = '1' if false then`,
		"explore v10 --faults expiry=1 --anomaly foreign-release",
	},
	{
		"acquire without a token that grows", "util/lua/acquire.lua", `math.max(last + 1, now[1] * 1000000 + now[2])`, `1`,
		"explore v10 --faults pause=1 --anomaly lost-update",
	},
	{
		"only messages wake", "internal/lockv10/lock.go", `l.turn.Wait(wait, l.opts.TTL/4)`, `l.turn.Wait(wait, 1000*time.Hour)`,
		"explore v10 --faults lost-wake=1 => stuck; lab missed-wake-up --lock v10",
	},
	{
		"kept lock stays kept while it is used", "internal/lockv11/unlock.go", `	l.kept = nil
	return k`, `	return k`,
		"explore v11 --actors 3 --replicas 2 --try 2 => foreign-release",
	},
	{
		"lock kept that is given back", "internal/lockv11/unlock.go", `	l.kept, l.wanted = nil, true`, `	l.wanted = true`,
		"explore v11 --actors 3 --replicas 2 --try 2 => foreign-release",
	},
	{
		"kept lock used past its expiry", "internal/lockv11/lock.go", ` || !l.isFresh(k.sent):
		_ = l.giveBack(ctx, k) // if this fails, the lock expires
		return nil
	}
`, `:
		return nil
	}
	k.sent = l.opts.Clock.Now()
`,
		"explore v11 --actors 3 --replicas 2 --try 3 --faults expiry=1 --anomaly two-holders",
	},
	{"minority accepted", "internal/lock/quorum/quorum.go", `len(n.all)/2 + 1`, `len(n.all) / 2`, "explore redlock --try 2 => two-holders"},
	{"set whoever has the node", "internal/lock/redlock/lock.go", `Mode: "NX", `, ``, "explore redlock --try 2 => foreign-release"},
	{
		"renewal without effect", "util/lua/updateExpireTime.lua", `return redis.call('PEXPIRE', KEYS[1], ARGV[2])`, `return 1`,
		"lab overdue-work --lock v6",
	},
	{
		"the holder never notices", "internal/lock/renew.go", `.Sub(r.opts.Clock.Now()), r.Lose)`, `.Sub(r.opts.Clock.Now()), func() {})`,
		"lab renewal-outage --lock v6",
	},
	{
		"nothing is given back in doubt", "internal/lock/errors.go",
		`if errors.Is(err, ErrOutcomeUnknown) {`, `if errors.Is(err, ErrNotOwner) {`,
		"lab lost-reply --lock v4",
	},
	{
		"all nodes have to agree", "internal/lock/quorum/quorum.go", `return len(n.all)/2 + 1`, `return len(n.all)`,
		"lab slow-node --lock redlock",
	},
	{
		"a doubt is kept from the buyer", "internal/service/update.go", `return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)`, `return err`,
		"lab redis-gone --lock v2",
	},
	{
		"what Redis counts is believed", "internal/lockv6/unlock.go", `reply == lua.StillHeld, nil`, `false, nil`, "lab resent-command --lock v6",
	},
	{
		"the job's lock is not renewed", "internal/lock/renew.go", `err := r.extend(ctx); {`, `err := error(nil); {`,
		"lab job-overruns --lock v6",
	},
	{
		"the renewal outlives the lease", "internal/lock/renew.go",
		"func (r *Renewal) Stop() {\n\tr.stop()", "func (r *Renewal) Stop() {\n\tif r.stop != nil {\n\t\treturn\n\t}\n\tr.stop()",
		"lab endless-renewal --lock v6; lab endless-renewal --lock v10",
	},
	{
		"the dead keep their place", "util/lua/queue.lua",
		`while head and redis.call('EXISTS', KEYS[3] .. ':' .. head) == 0 do`, `while false do`,
		"lab dead-waiter --lock v10; soak --lock v10 --faults kill-replica => ✗ sales resumed within",
	},
	{
		"a process hands the lock to its own forever", "internal/lock/cohort.go", `held.HandOffs == 0 || `, ``,
		"lab starvation-replicas --lock v10",
	},
	{
		"NX dropped, under faults that allow a loss", "internal/lockv4/lock.go", `Mode: "NX"`, `Mode: ""`,
		"soak --lock v4 --faults late-write => ✗ the stock of a run fell by one for each of its orders",
	},
	{
		"a lost order", "util/lua/write.lua",
		`redis.call('HSET', KEYS[3], ARGV[4], ARGV[5])`, `if ARGV[1] % 100 ~= 0 then redis.call('HSET', KEYS[3], ARGV[4], ARGV[5]) end`,
		"soak --lock v10 --faults kill-replica => ✗ a sale answered 200 has exactly one order",
	},
	{
		"a sale that takes two", "internal/service/update.go", `order.After = order.Before - 1`, `order.After = order.Before - 2`,
		"soak --lock v10 --faults lose-reply => ✗ the stock of a run fell by one for each of its orders",
	},
	{
		"doubt told as a refusal", "internal/lock/rediserr/rediserr.go", `lock.ErrOutcomeUnknown, err)`, `lock.ErrUnavailable, err)`,
		"soak --lock v10 --faults lose-reply => ✗ a refused sale has no order",
	},
	{
		"a key that means another order each time", "internal/api/idempotency.go",
		`uuid.NewSHA1(keySpace, []byte(key)).String()`, `uuid.NewString()`,
		"soak --lock v10 --faults buyers-leave => ✗ a sale repeated with its Idempotency-Key is made at most once",
	},
}

func TestExplorerFindsEveryBreakage(t *testing.T) {
	found(t, "explore", "package variants has locks with the same flaws")
}

func TestLabsFindEveryBreakage(t *testing.T) {
	found(t, "lab", "labs see the lock before the cure break")
}

// TestSoakBreaksNoRule checks that a soak finds nothing in the unchanged code.
func TestSoakFindsEveryBreakage(t *testing.T) {
	found(t, "soak", "package soak has every rule, broken once by hand")
}

// found sees that one who judges finds the breakages that it has to, and that the explorer and the labs find nothing without any.
func found(t *testing.T, by, elsewhere string) {
	t.Helper()
	for _, b := range breakages {
		b.source(t)
	}
	suite.LongOnly(t, elsewhere)
	if by == "soak" {
		suite.Needs(t, "redis-server")
	}
	whole, holds := breakable(t), map[string]bool{} // what is asked without any breakage, too
	for _, b := range breakages {
		for found := range strings.SplitSeq(b.found, "; ") {
			command, says, _ := strings.Cut(found, " => ")
			if !strings.HasPrefix(command, by+" ") {
				continue
			}
			t.Run(b.name, func(t *testing.T) {
				t.Parallel()
				if code, said := whole.with(b).judge(t, command, says); code != 1 || !strings.Contains(said, says) {
					t.Errorf("%s: exit code %d; want 1, and %q:\n%s", command, code, says, said)
				}
			})
			if by == "soak" || holds[command] {
				continue
			}
			holds[command] = true
			t.Run("none: "+command, func(t *testing.T) {
				t.Parallel()
				if code, said := whole.judge(t, command, ""); code != 0 {
					t.Errorf("%s: exit code %d:\n%s", command, code, said)
				}
			})
		}
	}
}
