package checkout

import (
	"testing"

	"lockstep/internal/test/suite"
)

// undoneCure is a breakage that undoes the cure of a step, with the lab that stands for it: its lock then does not hold.
type undoneCure struct {
	name, file, old, new string
	lab                  string
}

var undoneCures = []undoneCure{
	{"NX dropped", "internal/lockv1/lock.go", `Mode: "NX"`, `Mode: ""`, "lost-update --lock v1"},
	{"expiry dropped", "internal/lockv2/lock.go", `, TTL: l.opts.TTL`, ``, "holder-dies --lock v2"},
	{"compare dropped in Go", "internal/lockv3/unlock.go", `case holder != owner`, `case holder == ""`, "foreign-delete --lock v3"},
	{
		"compare dropped in Lua", "util/lua/compareAndDelete.lua", `if holder == ARGV[1] then`, `if holder then`,
		"check-then-delete --lock v4",
	},
	{
		"no nested call", "util/lua/lock.lua", `or redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1 then`, `then`,
		"self-deadlock --lock v5",
	},
	{
		"renewal without effect", "util/lua/updateExpireTime.lua", `return redis.call('PEXPIRE', KEYS[1], ARGV[2])`, `return 1`,
		"overdue-work --lock v6",
	},
	{
		"the holder never notices", "internal/lock/renew.go", `.Sub(r.opts.Clock.Now()), r.Lose)`,
		`.Sub(r.opts.Clock.Now()), func() {})`, "renewal-outage --lock v6",
	},
	{
		"nothing is given back in doubt", "internal/lock/errors.go", `if errors.Is(err, ErrOutcomeUnknown) {`,
		`if errors.Is(err, ErrNotOwner) {`, "lost-reply --lock v4",
	},
	{
		"the store takes any token", "util/lua/write.lua", `if tonumber(ARGV[2]) < seen then`,
		`if false then`, "paused-writer --lock v7",
	},
	{
		"the release ends with the request", "internal/lock/lock.go", `WithTimeout(context.WithoutCancel(ctx), clock`,
		`WithTimeout(ctx, clock`, "cancelled-request --lock v4",
	},
	{"all nodes have to agree", "internal/lock/quorum/quorum.go", `return len(n.all)/2 + 1`, `return len(n.all)`, "slow-node --lock redlock"},
	{
		"a doubt is kept from the buyer", "internal/service/update.go", `return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)`,
		`return err`, "redis-gone --lock v2",
	},
	{"what Redis counts is believed", "internal/lockv6/unlock.go", `reply == lua.Kept, nil`, `false, nil`, "resent-command --lock v6"},
	{
		"a known order is taken", "util/lua/take.lua",
		`return redis.call('HGET', KEYS[3], ARGV[2]) or redis.call('HGET', KEYS[4], ARGV[2]) or`, `return`,
		"resent-command --lock atomic",
	},
	{"a known order is written", "util/lua/write.lua", `if known then`, `if false then`, "resent-command --lock optimistic"},
	{"the job's lock is not renewed", "internal/lock/renew.go", `err := r.extend(ctx); {`, `err := error(nil); {`, "job-overruns --lock v6"},
	{
		"the renewal outlives the lease", "internal/lock/renew.go", "func (r *Renewal) Stop() {\n\tr.stop()",
		"func (r *Renewal) Stop() {\n\tif r.stop != nil {\n\t\treturn\n\t}\n\tr.stop()", "endless-renewal --lock v6",
	},
	{
		"the renewal outlives the holding", "internal/lock/renew.go", "func (r *Renewal) Stop() {\n\tr.stop()",
		"func (r *Renewal) Stop() {\n\tif r.stop != nil {\n\t\treturn\n\t}\n\tr.stop()", "endless-renewal --lock v10",
	},
	{
		"the dead keep their place", "util/lua/queue.lua", `while head and redis.call('EXISTS', KEYS[3] .. ':' .. head) == 0 do`,
		`while false do`, "dead-waiter --lock v10",
	},
	{
		"who waits only listens", "internal/lockv10/lock.go", `l.turn.Wait(wait, l.opts.TTL/4)`,
		`l.turn.Wait(wait, l.opts.WaitTimeout)`, "missed-wake-up --lock v10",
	},
	{
		"a process hands the lock to its own for ever", "internal/lock/cohort.go", `held.HandOffs == 0 || `, ``,
		"starvation-replicas --lock v10",
	},
}

func (u undoneCure) breakage() breakage { return breakage{u.name, u.file, u.old, u.new} }

// Where the cure of a step is undone, the lab that stands for it sees that: its exit code is 1.
func TestTheLabsFindEveryCureThatIsUndone(t *testing.T) {
	var whole version
	if suite.Long {
		whole = breakable(t, breakages(undoneCures))
	}
	for _, m := range undoneCures {
		t.Run(m.name, func(t *testing.T) {
			m.breakage().source(t)
			suite.LongOnly(t, "TestLabsShowTheFlawAndItsCure has labs that see the lock before the cure break")
			t.Parallel()
			if code, said := runLab(t, whole, m.lab); code != 0 {
				t.Fatalf("lab %s: exit code %d without any breakage:\n%s", m.lab, code, said)
			}
			if code, said := runLab(t, whole.with(t, m.breakage()), m.lab); code != 1 {
				t.Errorf("lab %s: exit code %d; want 1:\n%s", m.lab, code, said)
			}
		})
	}
}

// runLab runs a lab, and gives its exit code and what it said. One that did not put its lock to the test, as the machine was busy, says so,
// and is run again.
func runLab(t *testing.T, of version, arguments string) (code int, said string) {
	t.Helper()
	for range 3 {
		if code, said = runProgram(t, of, "lab "+arguments); code != 2 {
			break
		}
		t.Logf("lab %s says:\n%s", arguments, said)
	}
	return code, said
}
