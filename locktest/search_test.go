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

// flaw is a lock that has one.
type flaw struct {
	open     open
	faults   string
	anomaly  locktest.Anomaly
	schedule string // as short as there is one
}

func flaws() map[string]flaw {
	return map[string]flaw{
		"no lock": {
			made(func(_ context.Context, y *toy) (locktest.Held, error) { return y, nil }, nothing),
			"", locktest.TwoHolders, "A:Lock B:Lock",
		},
		"deletes what is not its own": {
			made(polled(tryOnce), remove), "slow=1", locktest.ForeignRelease, "A:Lock A:SET slow B:Lock B:SET A:Unlock A:DEL",
		},
		"deletes what was its own": {
			made(takenBy(getThenDelete, false), nil), "slow=1", locktest.ForeignRelease,
			"A:Lock A:SET A:Unlock A:GET slow B:Lock B:SET A:DEL",
		},
		"does not release":      {made(tryOnce, nothing), "", locktest.LeftBehind, "A:Lock A:SET A:Unlock"},
		"gives up a lost reply": {made(tryOnce, remove), "lost-reply=1", locktest.LeftBehind, "A:Lock A:SET/lost"},
		"takes a lost reply for a refusal": {
			made(func(ctx context.Context, y *toy) (locktest.Held, error) {
				if y.set(ctx, "1") != nil {
					return nil, errTaken
				}
				return y, nil
			}, remove), "lost-reply=1", locktest.LeftBehind, "A:Lock A:SET/lost",
		},
		"takes a lost reply for a lock": {
			made(func(ctx context.Context, y *toy) (locktest.Held, error) {
				if errors.Is(y.set(ctx, "1"), errTaken) {
					return nil, errTaken
				}
				return y, nil
			}, remove), "lost-request=1", locktest.TwoHolders, "A:Lock A:SET/unsent B:Lock B:SET",
		},
		"does not expire": {made(polled(ofHash), nil), "crash=1", locktest.LeftBehind, "A:Lock A:HSETNX A:crash"},
		"has one token for all": {
			made(polled(counted(false)), nil), "", locktest.TokenOrder, "A:Lock B:Lock A:SET A:Unlock A:DEL B:SET",
		},
		"is a number that says nothing": {
			made(func(ctx context.Context, y *toy) (locktest.Held, error) {
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
		"sleeps for ever": {
			made(func(ctx context.Context, y *toy) (locktest.Held, error) { return y.tryAndSleep(ctx, 1) }, remove),
			"", locktest.Stuck, "A:Lock B:Lock A:SET A:Unlock B:SET A:DEL",
		},
		"sleeps for ever after attempts that look alike": { // but for what the code remembers
			made(func(ctx context.Context, y *toy) (locktest.Held, error) { return y.tryAndSleep(ctx, 3) }, remove),
			"", locktest.Stuck, "A:Lock A:SET B:Lock" + strings.Repeat(" B:SET", 3) + " A:Unlock A:DEL",
		},
		"sleeps for ever, if chance wills": {
			made(func(ctx context.Context, y *toy) (locktest.Held, error) {
				if chance() {
					return tryOnce(ctx, y)
				}
				return y.tryAndSleep(ctx, 0)
			}, remove), "", locktest.Stuck, "A:Lock",
		},
		"is believed in by one who pauses": {
			made(polled(takenBy(compareAndDelete, true)), nil), "pause=1", locktest.TwoHolders, "A:Lock A:SET A:pause time B:Lock B:SET",
		},
		"is renewed for ever": {
			made(func(ctx context.Context, y *toy) (locktest.Held, error) {
				held, err := tryOnce(ctx, y)
				if err == nil {
					go y.renew()
				}
				return held, err
			}, nothing), "", locktest.LeftBehind, "A:Lock A:SET A:Unlock",
		},
		"asks without a pause": {
			made(func(ctx context.Context, y *toy) (h locktest.Held, err error) {
				for err = errTaken; errors.Is(err, errTaken) && ctx.Err() == nil; {
					h, err = tryOnce(ctx, y)
				}
				return h, err
			}, remove), "", locktest.Busy, "A:Lock A:SET B:Lock",
		},
		"leaves a goroutine": {
			made(func(ctx context.Context, y *toy) (locktest.Held, error) {
				go func() { <-make(chan struct{}) }()
				return tryOnce(ctx, y)
			}, remove), "", locktest.GoroutineLeak, "A:Lock A:SET A:Unlock A:DEL",
		},
	}
}

// renew renews until the client is closed.
func (y *toy) renew() {
	for closed := false; !closed; {
		time.Sleep(poll)
		closed = errors.Is(y.PExpire(context.Background(), key, ttl).Err(), redis.ErrClosed)
	}
}

// tryAndSleep tries so often, and then waits for nothing.
func (y *toy) tryAndSleep(ctx context.Context, times int) (locktest.Held, error) {
	for range times {
		if y.set(ctx, "1") == nil {
			return y, nil
		}
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// config looks for these anomalies alone; for all if none is named.
func config(faults string, anomalies ...locktest.Anomaly) locktest.Config {
	c := locktest.Config{Key: key, Faults: faults, Runs: 2000, Nodes: 1}
	if len(anomalies) > 0 {
		c.Allow = slices.DeleteFunc(locktest.Anomalies(), func(a locktest.Anomaly) bool { return slices.Contains(anomalies, a) })
	}
	return c
}

// Each anomaly is found in a lock that has it, in no more steps than it takes, and shown again.
func TestEachAnomalyIsFound(t *testing.T) {
	for name, flaw := range flaws() {
		t.Run(name, func(t *testing.T) {
			c := config(flaw.faults, flaw.anomaly)
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

// The faults to begin with are faults, and the usual lock bears them one by one.
func TestUsualFaults(t *testing.T) {
	for _, faults := range locktest.UsualFaults() {
		t.Run(faults, func(t *testing.T) {
			result, err := locktest.Search(t, config(faults), made(polled(takenBy(compareAndDelete, true)), nil))
			if err != nil || !result.Complete || len(result.Found) > 0 || len(result.Never) > 0 {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

// What follows after a step is found for both of its outcomes, if chance decides between them.
func TestBothWaysOfChance(t *testing.T) {
	forgets := made(func(ctx context.Context, y *toy) (locktest.Held, error) {
		if chance() {
			for range 10 { // so many runs pass by the choice again
				if err := y.Exists(ctx, key).Err(); err != nil {
					return nil, err
				}
			}
			return tryOnce(ctx, y)
		}
		return tryOnce(ctx, &toy{Client: y.Client, unlock: nothing})
	}, remove)
	c := config("", locktest.LeftBehind)
	c.Actors = 1
	for range 8 { // without luck
		result, err := locktest.Search(t, c, forgets)
		if err != nil || len(result.Found) == 0 {
			t.Errorf("%+v, %v; want a lock left behind", result, err)
		}
	}
}

// chance is what a select leaves to it.
func chance() bool {
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

// Locks without these flaws are accused of nothing, in every schedule.
func TestRightLocks(t *testing.T) {
	for name, right := range map[string]struct {
		open   open
		faults string
	}{
		"compare and delete": {made(polled(takenBy(compareAndDelete, true)), nil), "slow=1,lost-reply=1"},
		"and if one crashes": {made(polled(takenBy(compareAndDelete, true)), nil), "crash=1,cancel=1"},
		"of a hash":          {made(polled(ofHash), nil), ""},
		"with a token":       {made(polled(counted(true)), nil), "pause=1"},
		"by a transaction":   {made(polled(inTransaction), remove), ""},
		"undone later, by a goroutine": {made(func(ctx context.Context, y *toy) (locktest.Held, error) {
			h, err := tryOnce(ctx, y)
			if err != nil && !errors.Is(err, errTaken) {
				time.AfterFunc(poll, func() { _ = remove(context.Background(), y) })
			}
			return h, err
		}, remove), "lost-reply=1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(right.faults)
			c.Runs, c.Time = 50_000, time.Hour
			result, err := locktest.Search(t, c, right.open)
			if err != nil || !result.Complete || result.Vacuous != "" || len(result.Found) > 0 {
				t.Errorf("%+v, %v", result, err)
			}
			t.Logf("%d runs, %d states, %d steps, %v", result.Runs, result.States, result.Depth, result.Took)
		})
	}
}
