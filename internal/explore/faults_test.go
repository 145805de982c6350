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

// besidesIdle stands for all anomalies but Idle: many faults leave a lock idle until it expires.
const besidesIdle explore.Anomaly = "all but idle"

// Each fault breaks the locks that cannot handle it, and no others.
func TestFaultBreaksOnlyWhatItShould(t *testing.T) {
	for _, claim := range []struct {
		lock    string
		in      explore.Scenario
		anomaly explore.Anomaly // anomaly to look for; "": all
		shows   explore.Anomaly // anomaly of the first counterexample; "": none exists
		length  int             // steps of the counterexample
	}{
		{lock: "v1", in: faults("failover=1"), anomaly: anomaly.LeftBehind, shows: anomaly.LeftBehind, length: 7}, // the unlock is lost
		{lock: "v4", in: faults("failover=1"), anomaly: anomaly.ForeignRelease},

		{lock: "v4", in: faults("late=1"), anomaly: besidesIdle, shows: anomaly.LostUpdate, length: 8}, // a write arrives after the unlock
		{lock: "v6", in: faults("late=1"), anomaly: besidesIdle, shows: anomaly.LostUpdate, length: 8},
		{lock: "v7", in: faults("late=1"), anomaly: besidesIdle}, // the late write's token is stale
		{lock: "v9", in: faults("late=1"), anomaly: besidesIdle},
		{lock: "v10", in: faults("late=1"), anomaly: besidesIdle},
		{lock: "v11", in: faults("late=1"), anomaly: besidesIdle},

		{lock: "v4", in: faults("resend=1"), anomaly: besidesIdle},
		{lock: "v7", in: faults("resend=1")},
		{lock: "v11", in: faults("resend=1")},

		{lock: "v2", in: faults("lost-request=1"), shows: anomaly.Idle, length: 5}, // the unlock is lost
		{lock: "v2", in: faults("lost-request=1"), anomaly: besidesIdle},
		{lock: "v11", in: faults("lost-request=1"), anomaly: besidesIdle},

		{lock: "v1", in: faults("timeout=1")},
		{lock: "v10", in: faults("timeout=1")},
		{lock: "v11", in: faults("timeout=1")},
		{lock: "v10", in: actorsIn(3, 2, "timeout=1")}, // the waiter that times out is in the queue

		{lock: "v4", in: faults("clock-jump=1")},
		{lock: "v11", in: faults("clock-jump=1")},
		{lock: "getset", in: faults("clock-jump=1,crash=1"), anomaly: anomaly.Stuck}, // whatever time the dead holder's clock showed

		{lock: "v6", in: faults("redis-clock=1"), anomaly: anomaly.LostUpdate, shows: anomaly.LostUpdate, length: 7},
		{lock: "v7", in: faults("redis-clock=1"), anomaly: anomaly.TwoHolders, shows: anomaly.TwoHolders, length: 3},
		{lock: "v7", in: faults("redis-clock=1"), anomaly: anomaly.LostUpdate}, // the counter of tokens does not expire
		{lock: "v11", in: faults("redis-clock=1"), anomaly: anomaly.LostUpdate},
		{lock: "redlock", in: faults("failover=1"), anomaly: anomaly.TwoHolders, shows: anomaly.TwoHolders, length: 9}, // one node fails over

		{lock: "v1", in: faults("rollback=1"), anomaly: anomaly.LeftBehind, shows: anomaly.LeftBehind, length: 7}, // the snapshot has the lock
		{lock: "v4", in: faults("rollback=1"), anomaly: anomaly.LostUpdate, shows: anomaly.LostUpdate, length: 7},
		{lock: "v6", in: faults("rollback=1"), anomaly: anomaly.LostUpdate, shows: anomaly.LostUpdate, length: 7},
		{lock: "v7", in: faults("rollback=1"), anomaly: anomaly.TwoHolders, shows: anomaly.TwoHolders, length: 3},
		{lock: "v7", in: faults("rollback=1"), anomaly: anomaly.LostUpdate}, // tokens also grow with the time
		{lock: "v8", in: faults("rollback=1"), anomaly: anomaly.LostUpdate},
		{lock: "v9", in: faults("rollback=1"), anomaly: anomaly.LostUpdate},
		{lock: "v10", in: faults("rollback=1"), anomaly: anomaly.LostUpdate},
		{lock: "v11", in: faults("rollback=1"), anomaly: anomaly.LostUpdate},
		{lock: "v7", in: faults("rollback=1"), anomaly: anomaly.TokenOrder},
		{lock: "v10", in: faults("rollback=1"), anomaly: anomaly.TokenOrder},
		{lock: "v7", in: faults("rollback=1,redis-clock=1"), anomaly: anomaly.LostUpdate, shows: anomaly.LostUpdate, length: 8},
		{lock: "v7", in: faults("redis-clock=1"), anomaly: anomaly.TokenOrder},
		{lock: "v11", in: faults("redis-clock=1"), anomaly: anomaly.TokenOrder},
		{lock: "atomic", in: faults("rollback=1")},
		{lock: "optimistic", in: faults("rollback=1")},

		{lock: "v4", in: faults("evict=1"), anomaly: anomaly.TwoHolders, shows: anomaly.TwoHolders, length: 3},
		{lock: "v6", in: faults("evict=1"), anomaly: anomaly.LostUpdate, shows: anomaly.LostUpdate, length: 7},
		{lock: "v7", in: faults("evict=1"), anomaly: anomaly.TwoHolders, shows: anomaly.TwoHolders, length: 3},
		{lock: "v10", in: faults("evict=1"), anomaly: anomaly.LostUpdate},
		{lock: "v11", in: faults("evict=1"), anomaly: anomaly.LostUpdate},
		{lock: "v10", in: faults("evict=1"), anomaly: anomaly.Stuck},
	} {
		if claim.in.Actors == 0 {
			claim.in.Actors = 2
		}
		t.Run(fmt.Sprintf("%s %s %s", claim.lock, claim.in, claim.anomaly), func(t *testing.T) {
			checkShows(t, findStrategy(t, claim.lock), claim.in, claim.anomaly, claim.shows, claim.length)
		})
	}
}

// checkShows looks for one anomaly, or for all, and checks that the first one found is want, in so many steps, or that none is found.
func checkShows(t *testing.T, s strategy.Strategy, in explore.Scenario, target, want explore.Anomaly, length int) {
	t.Helper()
	var goal explore.Goal
	switch target {
	case "":
	case besidesIdle:
		goal.Anomalies = slices.DeleteFunc(explore.Anomalies(), func(a explore.Anomaly) bool { return a == anomaly.Idle || a.IsOnRequest() })
	default:
		goal.Anomalies = []explore.Anomaly{target}
	}
	result, err := explore.Explore(t.Context(), s, in, goal, suiteBounds(want))
	switch {
	case err != nil:
		t.Fatal(err)
	case isEndedByBound(result):
		return
	case want == "" && result.Verdict() != verdict.Holds:
		t.Fatalf("got %s; want it to hold: %+v", result.Verdict(), result.Found)
	case want == "":
		return
	case result.Verdict() != verdict.Broken || result.Found[0].Anomaly() != want || length > 0 && result.Found[0].Length() != length:
		t.Fatalf("got %s: %+v; want %s in %d steps", result.Verdict(), result.Found, want, length)
	}
	checkReplays(t, s, in, result.Found[0], 3)
}

// durableFence is a client that counts a lock's fencing tokens in a key of the ledger, which survives a failover.
type durableFence struct{ redis.Cmdable }

func (d durableFence) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	reply := d.Cmdable.Eval(ctx, script, keys, args...)
	granted, err := reply.Int64Slice()
	if !slices.Contains(keys, "{distributedLock}:fence") || err != nil || granted[0] == 0 {
		return reply
	}
	tokens, _ := dao.OrdersKeys("tokens")
	token, err := d.Incr(ctx, tokens).Result()
	reply.SetVal([]any{granted[0], token})
	reply.SetErr(err)
	return reply
}

// In a failover, v7 loses the last token with the lock and gives the same token twice, because the new master's clock is behind. If the
// last token survives, the fence holds.
func TestDurableTokenCounterKeepsFenceAcrossFailover(t *testing.T) {
	v7 := findStrategy(t, "v7")
	v7.New = func(p strategy.Parts) lock.Locker { return lockv7.New(durableFence{p.Client}, p.Options) }
	in := twoActors("failover=1")
	checkShows(t, v7, in, anomaly.TwoHolders, anomaly.TwoHolders, 5)
	checkShows(t, v7, in, anomaly.LostUpdate, "", 0)
}

// These locks are right without faults, and broken by a single one.
func TestLockBreaksOnlyWithItsFault(t *testing.T) {
	for name, test := range map[string]struct {
		strategy strategy.Strategy
		fault    string
		shows    explore.Anomaly
		length   int
	}{
		"a waiter that takes the lock by force at last": {strategy: impatient(), fault: "timeout=1", shows: anomaly.TwoHolders, length: 4},
		"a deadline in the value, by the caller's clock": {
			strategy: findStrategy(t, "getset"), fault: "clock-jump=1", shows: anomaly.TwoHolders, length: 7,
		},
		"a lock that does not recognize its own attempt": {
			strategy: findStrategy(t, "v1"), fault: "resend=1", shows: anomaly.ForeignRelease, length: 6,
		},
	} {
		t.Run(name, func(t *testing.T) {
			checkShows(t, test.strategy, twoActors(""), test.shows, "", 0)
			checkShows(t, test.strategy, twoActors(test.fault), test.shows, test.shows, test.length)
		})
	}
}

// impatient returns a lock that a waiter takes by force when its wait times out.
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

// A step with a fault says what the fault does, and which state it leads to.
func TestFaultStepsDescribeFaultAndState(t *testing.T) {
	const overdueFailover = "A:SET A:GET A:write A:compareAndDelete/unsynced B:SET expiry failover"
	for _, test := range []struct {
		lock, faults, schedule string
		want                   []string // sentence and state of each step
	}{
		{lock: "v4", faults: "failover=1", schedule: "A:SET/unsynced A:GET failover B:SET", want: []string{
			"A takes the lock; the replica receives neither this change nor later ones | lock: A, for 10s; stock: 100",
			"A reads stock 100 | lock: A, for 10s; stock: 100",
			"a replica takes the master's place: A's lock is gone | no lock; stock: 100",
			"B takes the lock | lock: B, for 10s; stock: 100",
		}},
		{lock: "v4", faults: "failover=1", schedule: "A:SET A:GET A:write A:compareAndDelete/unsynced B:SET failover B:GET", want: []string{
			"A takes the lock | lock: A, for 10s; stock: 100",
			"A reads stock 100 | lock: A, for 10s; stock: 100",
			"A writes stock 99 | lock: A, for 10s; stock: 99",
			"A gives the lock back; the replica receives neither this change nor later ones; A has sold | no lock; stock: 99",
			"B takes the lock | lock: B, for 10s; stock: 99",
			"a replica takes the master's place: the lock is A's again | lock: A, for 10s; stock: 99",
			"B reads stock 99 | lock: A, for 10s; stock: 99",
		}},
		{lock: "v4", faults: "rollback=1", schedule: "A:SET A:GET A:write/unsaved A:compareAndDelete rollback", want: []string{
			"A takes the lock | lock: A, for 10s; stock: 100",
			"A reads stock 100 | lock: A, for 10s; stock: 100",
			"A writes stock 99; Redis's snapshot has neither this change nor later ones | lock: A, for 10s; stock: 99",
			"A gives the lock back; A has sold | no lock; stock: 99",
			"Redis restarts with an older snapshot: the lock is A's again | lock: A, for 9s; stock: 100",
		}},
		{lock: "v7", faults: "rollback=1", schedule: "A:lockFenced/unsaved rollback B:lockFenced B:readFenced", want: []string{
			"A takes the lock; Redis's snapshot has neither this change nor later ones | lock: A, for 10s; stock: 100",
			"Redis restarts with an older snapshot: A's lock is gone | no lock; stock: 100",
			"B takes the lock | lock: B, for 10s; stock: 100",
			"B reads stock 100 | lock: B, for 10s; stock: 100",
		}},
		{lock: "v4", faults: "evict=1", schedule: "A:SET evict B:SET", want: []string{
			"A takes the lock | lock: A, for 10s; stock: 100",
			"Redis is out of memory, and evicts what has an expiry: A's lock is gone | no lock; stock: 100",
			"B takes the lock | lock: B, for 10s; stock: 100",
		}},
		{lock: "v4", faults: "late=1", schedule: "A:SET/late A:compareAndDelete B:SET A:SET/arrives", want: []string{
			"A's command is delayed, and A is told that Redis does not answer | no lock; stock: 100",
			"A finds no lock; A fails: redis did not answer: the outcome is unknown | no lock; stock: 100",
			"B takes the lock | lock: B, for 10s; stock: 100",
			"A tries the lock: B has it; the command was delayed | lock: B, for 10s; stock: 100",
		}},
		{lock: "v4", faults: "resend=1", schedule: "A:SET/resent A:SET", want: []string{
			"A takes the lock, but never gets the reply: its client sends the command again | lock: A, for 10s; stock: 100",
			"A tries the lock: A has it | lock: A, for 10s; stock: 100",
		}},
		{lock: "v4", faults: "lost-request=1", schedule: "A:SET/lost-request A:compareAndDelete", want: []string{
			"A's command never arrives | no lock; stock: 100",
			"A finds no lock; A fails: redis did not answer: the outcome is unknown | no lock; stock: 100",
		}},
		{lock: "v4", faults: "timeout=1", schedule: "A:SET B:SET B:times-out", want: []string{
			"A takes the lock | lock: A, for 10s; stock: 100",
			"B tries the lock: A has it | lock: A, for 10s; stock: 100",
			"B has waited too long; B fails: the wait for the lock timed out | lock: A, for 10s; stock: 100",
		}},
		{lock: "v4", faults: "clock-jump=1,redis-clock=1", schedule: "A:SET A:clock-jumps redis-clock-jumps", want: []string{
			"A takes the lock | lock: A, for 10s; stock: 100",
			"the clock of A jumps ahead by 15s | lock: A, for 10s; stock: 100",
			"Redis's clock jumps ahead by 15s: A's lock is gone | no lock; stock: 100",
		}},
		{lock: "v4", faults: "failover=1,expiry=1", schedule: overdueFailover, want: []string{
			"A takes the lock | lock: A, for 10s; stock: 100",
			"A reads stock 100 | lock: A, for 10s; stock: 100",
			"A writes stock 99 | lock: A, for 10s; stock: 99",
			"A gives the lock back; the replica receives neither this change nor later ones; A has sold | no lock; stock: 99",
			"B takes the lock | lock: B, for 10s; stock: 99",
			"10s later: B's lock expires | no lock; stock: 99", // A's lock on the replica expires as well
			"a replica takes the master's place | no lock; stock: 99",
		}},
		{lock: "v1", faults: "late=1", schedule: "A:SET A:GET A:write A:DEL/late B:SET A:DEL/arrives B:SET", want: []string{
			"A takes the lock | lock: A; stock: 100",
			"A reads stock 100 | lock: A; stock: 100",
			"A writes stock 99 | lock: A; stock: 99",
			"A's command is delayed, and A is told that Redis does not answer; A has sold | lock: A; stock: 99",
			"B tries the lock: A has it | lock: A; stock: 99", // B is not stuck: the DEL will arrive
			"A gives the lock back; the command was delayed | no lock; stock: 99",
			"B takes the lock | lock: B; stock: 99",
		}},
	} {
		t.Run(test.lock+" "+test.schedule, func(t *testing.T) {
			replayed, err := explore.Replay(findStrategy(t, test.lock), twoActors(test.faults), test.schedule)
			if err != nil || len(replayed.Steps) != len(test.want) {
				t.Fatalf("got %d steps, error %v; want %d steps", len(replayed.Steps), err, len(test.want))
			}
			if len(replayed.Hits) > 0 && test.faults == "late=1" {
				t.Errorf("got the anomalies %+v; want none", replayed.Hits)
			}
			for i, step := range replayed.Steps {
				if got := step.Says + " | " + step.State(language.English); got != test.want[i] {
					t.Errorf("step %d: got %q; want %q", i+1, got, test.want[i])
				}
			}
		})
	}
}

// After a failover, a subscriber is woken because it may have missed a message, but the message itself is lost.
func TestFailoverBreaksSubscriptions(t *testing.T) {
	const before = "A:acquire B:acquire B:subscribes B:acquire A:readFenced A:write A:release/unsynced "
	for _, test := range []struct{ rest, want string }{
		{rest: "B:woken B:acquire", want: "B takes the lock"},
		{rest: "failover B:woken B:acquire", want: "B tries the lock: A has it"},
	} {
		t.Run(test.rest, func(t *testing.T) {
			replayed, err := explore.Replay(findStrategy(t, "v10"), twoActors("failover=1"), before+test.rest)
			if err != nil {
				t.Fatal(err)
			}
			last := replayed.Steps[len(replayed.Steps)-1]
			if entered := last.Standing[1] == trace.Inside; last.Says != test.want || entered != (test.rest == "B:woken B:acquire") {
				t.Errorf("got %q, B in the critical section: %t; want %q", last.Says, entered, test.want)
			}
		})
	}
}

// If a lock's value has a deadline by the clock of its dead holder, which was ahead, time passes until every other clock has reached it.
func TestLockStampedByJumpedClockBecomesOverdue(t *testing.T) {
	const schedule = "A:SET B:SET B:GET B:clock-jumps A:GET A:write A:DEL B:SET B:dies/dies-before C:SET C:GET time C:SET C:GET C:GETSET"
	replayed, err := explore.Replay(findStrategy(t, "getset"), actorsIn(3, 0, "clock-jump=1,crash=1"), schedule)
	if err != nil {
		t.Fatal(err)
	}
	if last := replayed.Steps[len(replayed.Steps)-1]; last.Says != "C takes over B's lock" {
		t.Errorf("the last step says %q; want C to take over B's lock", last.Says)
	}
}
