package explore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/anomaly"
	"lockstep/internal/dao"
	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/lockv7"
	"lockstep/internal/strategy"
	"lockstep/internal/trace"
	"lockstep/internal/verdict"
)

// besidesIdle stands for all anomalies but this one: after many faults a lock is idle until it expires.
const besidesIdle explore.Anomaly = "all but idle"

// What each fault breaks, and what it does not.
func TestWhatAFaultBreaks(t *testing.T) {
	for _, claim := range []struct {
		lock    string
		in      explore.Scenario
		anomaly explore.Anomaly // the one looked for; "": all
		shows   explore.Anomaly // "": never
		length  int
	}{
		{"v1", faults("failover=1"), anomaly.LeftBehind, anomaly.LeftBehind, 7}, // the unlock is lost
		{"v4", faults("failover=1"), anomaly.ForeignRelease, "", 0},

		{"v4", faults("late=1"), besidesIdle, anomaly.LostUpdate, 8}, // a write that comes after the unlock
		{"v6", faults("late=1"), besidesIdle, anomaly.LostUpdate, 8},
		{"v7", faults("late=1"), besidesIdle, "", 0}, // its token is stale by then
		{"v9", faults("late=1"), besidesIdle, "", 0},
		{"v10", faults("late=1"), besidesIdle, "", 0},
		{"v11", faults("late=1"), besidesIdle, "", 0},

		{"v4", faults("resend=1"), besidesIdle, "", 0},
		{"v7", faults("resend=1"), "", "", 0},
		{"v11", faults("resend=1"), "", "", 0},

		{"v2", faults("lost-request=1"), "", anomaly.Idle, 5}, // the unlock is lost
		{"v2", faults("lost-request=1"), besidesIdle, "", 0},
		{"v11", faults("lost-request=1"), besidesIdle, "", 0},

		{"v1", faults("timeout=1"), "", "", 0},
		{"v10", faults("timeout=1"), "", "", 0},
		{"v11", faults("timeout=1"), "", "", 0},
		{"v10", of(3, 2, "timeout=1"), "", "", 0}, // with a place in the queue

		{"v4", faults("clock-jump=1"), "", "", 0},
		{"v11", faults("clock-jump=1"), "", "", 0},
		{"getset", faults("clock-jump=1,crash=1"), anomaly.Stuck, "", 0}, // however far ahead the clock was of the one that died

		{"v6", faults("redis-clock=1"), anomaly.LostUpdate, anomaly.LostUpdate, 7},
		{"v7", faults("redis-clock=1"), anomaly.TwoHolders, anomaly.TwoHolders, 3},
		{"v7", faults("redis-clock=1"), anomaly.LostUpdate, "", 0}, // the last token given does not expire
		{"v11", faults("redis-clock=1"), anomaly.LostUpdate, "", 0},
		{"redlock", faults("failover=1"), anomaly.TwoHolders, anomaly.TwoHolders, 9}, // of one node

		{"v1", faults("rollback=1"), anomaly.LeftBehind, anomaly.LeftBehind, 7}, // the snapshot has the lock
		{"v4", faults("rollback=1"), anomaly.LostUpdate, anomaly.LostUpdate, 7},
		{"v6", faults("rollback=1"), anomaly.LostUpdate, anomaly.LostUpdate, 7},
		{"v7", faults("rollback=1"), anomaly.TwoHolders, anomaly.TwoHolders, 3},
		{"v7", faults("rollback=1"), anomaly.LostUpdate, "", 0}, // a token grows with the time, too
		{"v8", faults("rollback=1"), anomaly.LostUpdate, "", 0},
		{"v9", faults("rollback=1"), anomaly.LostUpdate, "", 0},
		{"v10", faults("rollback=1"), anomaly.LostUpdate, "", 0},
		{"v11", faults("rollback=1"), anomaly.LostUpdate, "", 0},
		{"v7", faults("rollback=1"), anomaly.TokenOrder, "", 0},
		{"v10", faults("rollback=1"), anomaly.TokenOrder, "", 0},
		{"v7", faults("rollback=1,redis-clock=1"), anomaly.LostUpdate, anomaly.LostUpdate, 8}, // the store has forgotten B's read
		{"v7", faults("redis-clock=1"), anomaly.TokenOrder, "", 0},
		{"v11", faults("redis-clock=1"), anomaly.TokenOrder, "", 0},
		{"atomic", faults("rollback=1"), "", "", 0},
		{"optimistic", faults("rollback=1"), "", "", 0},

		{"v4", faults("evict=1"), anomaly.TwoHolders, anomaly.TwoHolders, 3},
		{"v6", faults("evict=1"), anomaly.LostUpdate, anomaly.LostUpdate, 7},
		{"v7", faults("evict=1"), anomaly.TwoHolders, anomaly.TwoHolders, 3},
		{"v10", faults("evict=1"), anomaly.LostUpdate, "", 0},
		{"v11", faults("evict=1"), anomaly.LostUpdate, "", 0},
		{"v10", faults("evict=1"), anomaly.Stuck, "", 0},
	} {
		if claim.in.Actors == 0 {
			claim.in.Actors = 2
		}
		t.Run(fmt.Sprintf("%s %s %s", claim.lock, claim.in, claim.anomaly), func(t *testing.T) {
			shows(t, find(t, claim.lock), claim.in, claim.anomaly, claim.shows, claim.length)
		})
	}
}

// shows sees that of these anomalies, or of all, a scenario shows this one first, and in so many steps; or none.
func shows(t *testing.T, s strategy.Strategy, in explore.Scenario, of, want explore.Anomaly, length int) {
	t.Helper()
	var goal explore.Goal
	switch of {
	case "":
	case besidesIdle:
		goal.Anomalies = slices.DeleteFunc(explore.Anomalies(), func(a explore.Anomaly) bool { return a == anomaly.Idle || a.OnRequest() })
	default:
		goal.Anomalies = []explore.Anomaly{of}
	}
	result, err := explore.Explore(t.Context(), s, in, goal, bounds(want))
	switch {
	case err != nil:
		t.Fatal(err)
	case shortened(result):
		return
	case want == "" && result.Verdict() != verdict.Holds:
		t.Fatalf("%s; want it to hold: %+v", result.Verdict(), result.Found)
	case want == "":
		return
	case result.Verdict() != verdict.Broken || result.Found[0].Anomaly() != want || length > 0 && result.Found[0].Length() != length:
		t.Fatalf("%s: %+v; want %s in %d steps", result.Verdict(), result.Found, want, length)
	}
	replayed(t, s, in, result.Found[0], 3)
}

// durable is a client whose lock counts its tokens where the orders are: that survives a failover.
type durable struct{ redis.Cmdable }

func (d durable) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	reply := d.Cmdable.Eval(ctx, script, keys, args...)
	took, err := reply.Int64Slice()
	if !slices.Contains(keys, "{distributedLock}:fence") || err != nil || took[0] == 0 {
		return reply
	}
	tokens, _ := dao.OrdersKeys("tokens")
	token, err := d.Incr(ctx, tokens).Result()
	reply.SetVal([]any{took[0], token})
	reply.SetErr(err)
	return reply
}

// V7 loses updates in a failover because the last token is forgotten with the lock, and the new master's clock is behind: it gives the same
// token twice. If the last token is not, the fence holds.
func TestTheFenceSurvivesAFailoverIfItsCounterDoes(t *testing.T) {
	kept := find(t, "v7")
	kept.New = func(p strategy.Parts) lock.Locker { return lockv7.New(durable{p.Client}, p.Options) }
	in := faultsOfTwo("failover=1")
	shows(t, kept, in, anomaly.TwoHolders, anomaly.TwoHolders, 5)
	shows(t, kept, in, anomaly.LostUpdate, "", 0)
}

// A lock that breaks by one fault alone, and by nothing else.
func TestOneFaultBreaks(t *testing.T) {
	for name, test := range map[string]struct {
		strategy strategy.Strategy
		fault    string
		shows    explore.Anomaly
		length   int
	}{
		"a waiter that takes the lock by force in the end": {impatient(), "timeout=1", anomaly.TwoHolders, 4},
		"a deadline in the value, by the caller's clock":   {find(t, "getset"), "clock-jump=1", anomaly.TwoHolders, 7},
		"a lock whose second attempt does not know itself": {find(t, "v1"), "resend=1", anomaly.ForeignRelease, 6},
	} {
		t.Run(name, func(t *testing.T) {
			shows(t, test.strategy, faultsOfTwo(""), test.shows, "", 0)
			shows(t, test.strategy, faultsOfTwo(test.fault), test.shows, test.shows, test.length)
		})
	}
}

// impatient is a lock that a waiter takes by force when its time is over.
func impatient() strategy.Strategy {
	return locker(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
		lease, err := lock.Poll(ctx, opts, func() (*lock.Lease, error) {
			unlock := deletes(c, opts, compareAndDelete, owner)
			return lock.NewLease(ctx, opts.Clock, 0, unlock), setNX(ctx, c, opts, owner)
		})
		if errors.Is(err, lock.ErrTimeout) {
			err = c.Set(ctx, opts.Key, owner, opts.TTL).Err()
			lease = lock.NewLease(ctx, opts.Clock, 0, deletes(c, opts, compareAndDelete, owner))
		}
		return lease, err
	})
}

// What a step of a fault says, and what is so after it.
func TestFaultsAreSaid(t *testing.T) {
	for _, test := range []struct {
		lock, faults, schedule string
		want                   []string
	}{
		{"v4", "failover=1", "A:SET/unsynced A:GET failover B:SET", []string{
			"A takes the lock; the replica receives neither this change nor later ones | lock: A, for 10s; stock: 100",
			"A reads stock 100 | lock: A, for 10s; stock: 100",
			"a replica takes the master's place: A's lock is gone | no lock; stock: 100",
			"B takes the lock | lock: B, for 10s; stock: 100",
		}},
		{"v4", "failover=1", "A:SET A:GET A:write A:compareAndDelete/unsynced B:SET failover B:GET", []string{
			"A takes the lock | lock: A, for 10s; stock: 100",
			"A reads stock 100 | lock: A, for 10s; stock: 100",
			"A writes stock 99 | lock: A, for 10s; stock: 99",
			"A gives the lock back; the replica receives neither this change nor later ones; A has sold | no lock; stock: 99",
			"B takes the lock | lock: B, for 10s; stock: 99",
			"a replica takes the master's place: the lock is A's again | lock: A, for 10s; stock: 99",
			"B reads stock 99 | lock: A, for 10s; stock: 99",
		}},
		{"v4", "rollback=1", "A:SET A:GET A:write/unsaved A:compareAndDelete rollback", []string{
			"A takes the lock | lock: A, for 10s; stock: 100",
			"A reads stock 100 | lock: A, for 10s; stock: 100",
			"A writes stock 99; Redis's snapshot has neither this change nor later ones | lock: A, for 10s; stock: 99",
			"A gives the lock back; A has sold | no lock; stock: 99",
			"Redis restarts with an older snapshot: the lock is A's again | lock: A, for 9s; stock: 100",
		}},
		{"v7", "rollback=1", "A:lockFenced/unsaved rollback B:lockFenced B:readFenced", []string{
			"A takes the lock; Redis's snapshot has neither this change nor later ones | lock: A, for 10s; stock: 100",
			"Redis restarts with an older snapshot: A's lock is gone | no lock; stock: 100",
			"B takes the lock | lock: B, for 10s; stock: 100",
			"B reads stock 100 | lock: B, for 10s; stock: 100",
		}},
		{"v4", "evict=1", "A:SET evict B:SET", []string{
			"A takes the lock | lock: A, for 10s; stock: 100",
			"Redis is out of memory, and evicts what has an expiry: A's lock is gone | no lock; stock: 100",
			"B takes the lock | lock: B, for 10s; stock: 100",
		}},
		{"v4", "late=1", "A:SET/late A:compareAndDelete B:SET A:SET/arrives", []string{
			"A's command is delayed, and A is told that Redis does not answer | no lock; stock: 100",
			"A finds no lock; A fails: redis did not answer: the outcome is unknown | no lock; stock: 100",
			"B takes the lock | lock: B, for 10s; stock: 100",
			"A finds the lock to be B's: the command was delayed | lock: B, for 10s; stock: 100",
		}},
		{"v4", "resend=1", "A:SET/resent A:SET", []string{
			"A takes the lock, but never gets the reply: its client sends the command again | lock: A, for 10s; stock: 100",
			"A finds the lock to be A's | lock: A, for 10s; stock: 100",
		}},
		{"v4", "lost-request=1", "A:SET/lost-request A:compareAndDelete", []string{
			"A's command never arrives | no lock; stock: 100",
			"A finds no lock; A fails: redis did not answer: the outcome is unknown | no lock; stock: 100",
		}},
		{"v4", "timeout=1", "A:SET B:SET B:times-out", []string{
			"A takes the lock | lock: A, for 10s; stock: 100",
			"B finds the lock to be A's | lock: A, for 10s; stock: 100",
			"B has waited too long; B fails: the wait for the lock timed out | lock: A, for 10s; stock: 100",
		}},
		{"v4", "clock-jump=1,redis-clock=1", "A:SET A:clock-jumps redis-clock-jumps", []string{
			"A takes the lock | lock: A, for 10s; stock: 100",
			"the clock of A jumps ahead by 15s | lock: A, for 10s; stock: 100",
			"Redis's clock jumps ahead by 15s: A's lock is gone | no lock; stock: 100",
		}},
		{"v4", "failover=1,expiry=1", "A:SET A:GET A:write A:compareAndDelete/unsynced B:SET expiry failover", []string{
			"A takes the lock | lock: A, for 10s; stock: 100",
			"A reads stock 100 | lock: A, for 10s; stock: 100",
			"A writes stock 99 | lock: A, for 10s; stock: 99",
			"A gives the lock back; the replica receives neither this change nor later ones; A has sold | no lock; stock: 99",
			"B takes the lock | lock: B, for 10s; stock: 99",
			"10s later: B's lock expires | no lock; stock: 99", // and A's, in the replica
			"a replica takes the master's place | no lock; stock: 99",
		}},
		{"v1", "late=1", "A:SET A:GET A:write A:DEL/late B:SET A:DEL/arrives B:SET", []string{
			"A takes the lock | lock: A; stock: 100",
			"A reads stock 100 | lock: A; stock: 100",
			"A writes stock 99 | lock: A; stock: 99",
			"A's command is delayed, and A is told that Redis does not answer; A has sold | lock: A; stock: 99",
			"B finds the lock to be A's | lock: A; stock: 99", // it is not stuck: the DEL comes in the end
			"A gives the lock back: the command was delayed | no lock; stock: 99",
			"B takes the lock | lock: B; stock: 99",
		}},
	} {
		replayed, err := explore.Replay(find(t, test.lock), faultsOfTwo(test.faults), test.schedule)
		if err != nil || len(replayed.Steps) != len(test.want) {
			t.Errorf("%s: %v after %d steps", test.schedule, err, len(replayed.Steps))
		}
		if len(replayed.Shown) > 0 && test.faults == "late=1" {
			t.Errorf("%s: %+v", test.schedule, replayed.Shown)
		}
		for i, step := range replayed.Steps {
			if got := step.Says + " | " + step.State(language.English); got != test.want[i] {
				t.Errorf("%s: step %d: %q; want %q", test.schedule, i+1, got, test.want[i])
			}
		}
	}
}

// Those who listen hear after a failover that they may have missed something, and not what they have missed.
func TestAFailoverBreaksSubscriptions(t *testing.T) {
	const before = "A:acquire B:acquire B:subscribes B:acquire A:readFenced A:write A:release/unsynced "
	for _, test := range []struct{ then, want string }{
		{"B:woken B:acquire", "B takes the lock"},
		{"failover B:woken B:acquire", "B finds the lock to be A's"},
	} {
		replayed, err := explore.Replay(find(t, "v10"), faultsOfTwo("failover=1"), before+test.then)
		if err != nil {
			t.Fatal(err)
		}
		last := replayed.Steps[len(replayed.Steps)-1]
		if inside := last.Standing[1] == trace.Inside; last.Says != test.want || inside != (test.then == "B:woken B:acquire") {
			t.Errorf("%s: %s, and B is inside: %t; want %s", test.then, last.Says, inside, test.want)
		}
	}
}

// However far ahead the clock of a dead holder was, time passes until its lock is overdue by any other.
func TestALockByAClockThatJumpedIsOverdueInTheEnd(t *testing.T) {
	const schedule = "A:SET B:SET B:GET B:clock-jumps A:GET A:write A:DEL B:SET B:dies/dies-before C:SET C:GET time C:SET C:GET C:GETSET"
	replayed, err := explore.Replay(find(t, "getset"), of(3, 0, "clock-jump=1,crash=1"), schedule)
	if err != nil {
		t.Fatal(err)
	}
	if last := replayed.Steps[len(replayed.Steps)-1]; last.Says != "C takes over B's lock" {
		t.Errorf("%s", last.Says)
	}
}
