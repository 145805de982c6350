package locktest_test

import (
	"context"
	"errors"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/locktest"
)

type open = func(locktest.Process) (locktest.Lock, error)

// flaw is a broken lock, with the anomaly that a search must find.
type flaw struct {
	open     open
	faults   string
	anomaly  locktest.Anomaly
	schedule string // a shortest schedule that shows the anomaly
}

// brokenLocks returns a broken lock for each anomaly.
func brokenLocks() map[string]flaw {
	return map[string]flaw{
		"no lock": {
			newToy(func(_ context.Context, y *toy) (locktest.Held, error) { return y, nil }, nothing),
			"", locktest.TwoHolders, "A:Lock B:Lock",
		},
		"deletes what is not its own": {
			newToy(polled(tryOnce), remove), "slow=1", locktest.ForeignRelease, "A:Lock A:SET slow B:Lock B:SET A:Unlock A:DEL",
		},
		"deletes what was its own": {
			newToy(lockByOwner(getThenDelete, false), nil), "slow=1", locktest.ForeignRelease,
			"A:Lock A:SET A:Unlock A:GET slow B:Lock B:SET A:DEL",
		},
		"does not release":      {newToy(tryOnce, nothing), "", locktest.LeftBehind, "A:Lock A:SET A:Unlock"},
		"gives up a lost reply": {newToy(tryOnce, remove), "lost-reply=1", locktest.LeftBehind, "A:Lock A:SET/lost"},
		"takes a lost reply for a refusal": {
			newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
				if y.set(ctx, "1") != nil {
					return nil, errTaken
				}
				return y, nil
			}, remove), "lost-reply=1", locktest.LeftBehind, "A:Lock A:SET/lost",
		},
		"takes a lost reply for a lock": {
			newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
				if errors.Is(y.set(ctx, "1"), errTaken) {
					return nil, errTaken
				}
				return y, nil
			}, remove), "lost-request=1", locktest.TwoHolders, "A:Lock A:SET/unsent B:Lock B:SET",
		},
		"does not expire": {newToy(polled(lockInHash), nil), "crash=1", locktest.LeftBehind, "A:Lock A:HSETNX A:crash"},
		"has one token for all": {
			newToy(polled(lockWithToken(false)), nil), "", locktest.TokenOrder, "A:Lock B:Lock A:SET A:Unlock A:DEL B:SET",
		},
		"is a number that says nothing": {
			newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
				if y.Exists(ctx, key).Val() > 0 {
					return nil, errTaken
				}
				return y, y.Set(ctx, key, 100+mathrand.IntN(2)*500, ttl).Err()
			}, remove), "", locktest.Unattributed, "A:Lock B:Lock A:EXISTS B:EXISTS A:SET B:SET",
		},
		"is on nodes that forget": {
			onNodes, "node-restart=1", locktest.TwoHolders,
			"A:Lock B:Lock A:SET@1 A:SET@2 1:restart B:SET@1 B:SET@2 B:SET@3 A:SET@3",
		},
		"sleeps forever": {
			newToy(func(ctx context.Context, y *toy) (locktest.Held, error) { return y.tryAndSleep(ctx, 1) }, remove),
			"", locktest.Stuck, "A:Lock B:Lock A:SET A:Unlock B:SET A:DEL",
		},
		"sleeps forever after attempts that look alike": { // the attempts differ only in what the code remembers
			newToy(func(ctx context.Context, y *toy) (locktest.Held, error) { return y.tryAndSleep(ctx, 3) }, remove),
			"", locktest.Stuck, "A:Lock A:SET B:Lock" + strings.Repeat(" B:SET", 3) + " A:Unlock A:DEL",
		},
		"sleeps forever, if chance wills": {
			newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
				if randomBool() {
					return tryOnce(ctx, y)
				}
				return y.tryAndSleep(ctx, 0)
			}, remove), "", locktest.Stuck, "A:Lock",
		},
		"is believed in by one who pauses": {
			newToy(polled(lockByOwner(compareAndDelete, true)), nil), "pause=1", locktest.TwoHolders, "A:Lock A:SET A:pause time B:Lock B:SET",
		},
		"is renewed forever": {
			newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
				held, err := tryOnce(ctx, y)
				if err == nil {
					go y.renew()
				}
				return held, err
			}, nothing), "", locktest.LeftBehind, "A:Lock A:SET A:Unlock",
		},
		"asks without a pause": {
			newToy(func(ctx context.Context, y *toy) (h locktest.Held, err error) {
				for err = errTaken; errors.Is(err, errTaken) && ctx.Err() == nil; {
					h, err = tryOnce(ctx, y)
				}
				return h, err
			}, remove), "", locktest.Busy, "A:Lock A:SET B:Lock",
		},
		"leaves a goroutine": {
			newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
				go func() { <-make(chan struct{}) }()
				return tryOnce(ctx, y)
			}, remove), "", locktest.GoroutineLeak, "A:Lock A:SET A:Unlock A:DEL",
		},
	}
}

// renew renews the lock until the client is closed.
func (y *toy) renew() {
	for closed := false; !closed; {
		time.Sleep(poll)
		closed = errors.Is(y.PExpire(context.Background(), key, ttl).Err(), redis.ErrClosed)
	}
}

// tryAndSleep makes some attempts, and then waits for nothing.
func (y *toy) tryAndSleep(ctx context.Context, times int) (locktest.Held, error) {
	for range times {
		if y.set(ctx, "1") == nil {
			return y, nil
		}
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// newConfig returns a configuration that looks only for these anomalies; without any, for all.
func newConfig(faults string, anomalies ...locktest.Anomaly) locktest.Config {
	c := locktest.Config{Key: key, Faults: faults, Runs: 2000, Nodes: 1}
	if len(anomalies) > 0 {
		c.Allow = slices.DeleteFunc(locktest.Anomalies(), func(a locktest.Anomaly) bool { return slices.Contains(anomalies, a) })
	}
	return c
}

// Each anomaly is found in a lock that has it, by a shortest schedule, and Show shows it again.
func TestEachAnomalyIsFound(t *testing.T) {
	for name, flaw := range brokenLocks() {
		t.Run(name, func(t *testing.T) {
			c := newConfig(flaw.faults, flaw.anomaly)
			if strings.Contains(flaw.schedule, "@") {
				c.Nodes, c.Runs = 3, 20_000
			}
			result, err := locktest.Search(t, c, flaw.open)
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Found) == 0 {
				t.Fatalf("nothing was found: %+v", result)
			}
			found := result.Found[0].Schedule
			if result.Found[0].Steps() != len(strings.Fields(flaw.schedule)) {
				t.Errorf("found by %s; want as many steps as in %s", found, flaw.schedule)
			}
			for _, schedule := range []string{found, flaw.schedule} {
				if again, err := locktest.Show(t, c, schedule, flaw.open, flaw.anomaly); err != nil {
					t.Errorf("%s shows %v, %v; want %s", schedule, again.Found, err, flaw.anomaly)
				}
			}
		})
	}
}

// UsualFaults are valid faults, and the usual correct lock withstands each of them.
func TestUsualFaultsDoNotBreakCorrectLock(t *testing.T) {
	for _, faults := range locktest.UsualFaults() {
		t.Run(faults, func(t *testing.T) {
			result, err := locktest.Search(t, newConfig(faults), newToy(polled(lockByOwner(compareAndDelete, true)), nil))
			if err != nil || !result.Complete || len(result.Found) > 0 || len(result.Never) > 0 {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

// If chance decides between two outcomes of a step, what follows both is explored.
func TestBothOutcomesOfChanceAreExplored(t *testing.T) {
	forgets := newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
		if randomBool() {
			for range 10 { // ten more runs pass the choice again
				if err := y.Exists(ctx, key).Err(); err != nil {
					return nil, err
				}
			}
			return tryOnce(ctx, y)
		}
		return tryOnce(ctx, &toy{Client: y.Client, unlock: nothing})
	}, remove)
	c := newConfig("", locktest.LeftBehind)
	c.Actors = 1
	for range 8 { // repeated, so that the result does not depend on luck
		result, err := locktest.Search(t, c, forgets)
		if err != nil || len(result.Found) == 0 {
			t.Errorf("%+v, %v; want a lock left behind", result, err)
		}
	}
}

// randomBool returns the random choice of a select.
func randomBool() bool {
	one, other := make(chan struct{}), make(chan struct{})
	close(one)
	close(other)
	select {
	case <-one:
		return true
	case <-other:
		return false
	}
}

// Correct locks show no anomaly in any schedule.
func TestCorrectLocksHaveNoAnomaly(t *testing.T) {
	for name, right := range map[string]struct {
		open   open
		faults string
	}{
		"compare and delete": {newToy(polled(lockByOwner(compareAndDelete, true)), nil), "slow=1,lost-reply=1"},
		"and if one crashes": {newToy(polled(lockByOwner(compareAndDelete, true)), nil), "crash=1,cancel=1"},
		"of a hash":          {newToy(polled(lockInHash), nil), ""},
		"with a token":       {newToy(polled(lockWithToken(true)), nil), "pause=1"},
		"by a transaction":   {newToy(polled(lockByTransaction), remove), ""},
		"undone later, by a goroutine": {newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
			h, err := tryOnce(ctx, y)
			if err != nil && !errors.Is(err, errTaken) {
				time.AfterFunc(poll, func() { _ = remove(context.Background(), y) })
			}
			return h, err
		}, remove), "lost-reply=1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConfig(right.faults)
			c.Runs, c.Time = 50_000, time.Hour
			result, err := locktest.Search(t, c, right.open)
			if err != nil || !result.Complete || result.Vacuous != "" || len(result.Found) > 0 {
				t.Errorf("%+v, %v", result, err)
			}
			t.Logf("%d runs, %d states, %d steps, %v", result.Runs, result.States, result.Depth, result.Took)
		})
	}
}
