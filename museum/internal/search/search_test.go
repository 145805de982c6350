package search_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock/anomaly"

	"lockstep/museum/internal/exhibit"
	"lockstep/museum/internal/library"
	"lockstep/museum/internal/play"
	"lockstep/museum/internal/search"
)

// toy is a lock for tests: SET NX PX, and DEL.
type toy struct {
	client *redis.Client
	lock   func(context.Context, *toy) (library.Held, error)
	unlock func(context.Context, *toy) error
}

func (y *toy) Lock(ctx context.Context) (library.Held, error) { return y.lock(ctx, y) }
func (y *toy) Unlock(ctx context.Context) error               { return y.unlock(ctx, y) }
func (y *toy) Close()                                         { _ = y.client.Close() }
func (*toy) Valid() bool                                      { return true }

var errTaken = errors.New("taken")

func (y *toy) set(ctx context.Context) error {
	took, err := y.client.SetNX(ctx, library.Key, "a value of its own", time.Second).Result()
	if err == nil && !took {
		return errTaken
	}
	return err
}

func tryOnce(ctx context.Context, y *toy) (library.Held, error) {
	if err := y.set(ctx); err != nil {
		return nil, err
	}
	return y, nil
}

func remove(ctx context.Context, y *toy) error { return y.client.Del(ctx, library.Key).Err() }

func made(lock func(context.Context, *toy) (library.Held, error), unlock func(context.Context, *toy) error) library.Library {
	return library.Library{Name: "toy", Key: library.Key, Nodes: 1, Open: func(_ string, dial library.Dial) (library.Process, error) {
		return &toy{lock: lock, unlock: unlock, client: redisclient.Single(redisclient.Config{
			Addrs:  []string{"127.0.0.1:6379"},
			Dialer: func(context.Context, string, string) (net.Conn, error) { return dial(0), nil },
		})}, nil
	}}
}

// flaw is a lock that has one.
type flaw struct {
	library  library.Library
	faults   string
	anomaly  anomaly.Anomaly
	schedule string // as short as there is one
}

func flaws() map[string]flaw {
	nothing := func(context.Context, *toy) error { return nil }
	return map[string]flaw{
		"no lock": {
			made(func(_ context.Context, y *toy) (library.Held, error) { return y, nil }, nothing),
			"", anomaly.TwoHolders, "A:Lock B:Lock",
		},
		"deletes what is not its own": {
			library.Own("v2"), "slow=1", anomaly.ForeignRelease, "A:Lock A:SET slow B:Lock B:SET A:Unlock A:DEL",
		},
		"does not release":      {made(tryOnce, nothing), "", anomaly.LeftBehind, "A:Lock A:SET A:Unlock"},
		"gives up a lost reply": {made(tryOnce, remove), "lost-reply=1", anomaly.LeftBehind, "A:Lock A:SET/lost"},
		"sleeps for ever": {
			made(func(ctx context.Context, y *toy) (library.Held, error) { return y.tryAndSleep(ctx, 1) }, remove),
			"", anomaly.Stuck, "A:Lock B:Lock A:SET A:Unlock B:SET A:DEL",
		},
		"sleeps for ever after attempts that look alike": { // but for what the code remembers
			made(func(ctx context.Context, y *toy) (library.Held, error) { return y.tryAndSleep(ctx, 3) }, remove),
			"", anomaly.Stuck, "A:Lock A:SET B:Lock" + strings.Repeat(" B:SET", 3) + " A:Unlock A:DEL",
		},
		"sleeps for ever, if chance wills": {
			made(func(ctx context.Context, y *toy) (library.Held, error) {
				if chance() {
					return tryOnce(ctx, y)
				}
				return y.tryAndSleep(ctx, 0)
			}, remove), "", anomaly.Stuck, "A:Lock",
		},
		"is believed in by one who pauses": {
			library.Own("v6"), "pause=1", anomaly.TwoHolders, "A:Lock A:HINCRBY A:pause time B:Lock B:HINCRBY",
		},
		"is renewed for ever": {
			made(func(ctx context.Context, y *toy) (library.Held, error) {
				held, err := tryOnce(ctx, y)
				if err == nil {
					go y.renew()
				}
				return held, err
			}, nothing), "", anomaly.LeftBehind, "A:Lock A:SET A:Unlock",
		},
		"asks without a pause": {
			made(func(ctx context.Context, y *toy) (held library.Held, err error) {
				for err = errTaken; errors.Is(err, errTaken) && ctx.Err() == nil; {
					held, err = tryOnce(ctx, y)
				}
				return held, err
			}, remove), "", play.Busy, "A:Lock A:SET B:Lock",
		},
		"leaves a goroutine": {
			made(func(ctx context.Context, y *toy) (library.Held, error) {
				go func() { <-make(chan struct{}) }()
				return tryOnce(ctx, y)
			}, remove), "", anomaly.GoroutineLeak, "A:Lock",
		},
	}
}

// renew renews until the client is closed.
func (y *toy) renew() {
	for closed := false; !closed; {
		time.Sleep(library.Poll)
		closed = errors.Is(y.client.PExpire(context.Background(), library.Key, time.Second).Err(), redis.ErrClosed)
	}
}

// tryAndSleep tries so often, and then waits for nothing.
func (y *toy) tryAndSleep(ctx context.Context, times int) (library.Held, error) {
	for range times {
		if y.set(ctx) == nil {
			return y, nil
		}
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// Each anomaly is found in a lock that has it, in no more steps than it takes, and shown again.
func TestEachAnomalyIsFound(t *testing.T) {
	for name, flaw := range flaws() {
		t.Run(name, func(t *testing.T) {
			in := scenario(t, flaw.faults)
			stage := newStage(t)
			result, err := search.Do(stage, flaw.library, in, search.Goal{Runs: 2000, Anomalies: []anomaly.Anomaly{flaw.anomaly}})
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Found) == 0 {
				t.Fatalf("nothing was found: %+v", result)
			}
			found, want := result.Found[0].Schedule, strings.Fields(flaw.schedule)
			if len(found) != len(want) {
				t.Errorf("found by %v; want %d steps, as by %v", found, len(want), want)
			}
			for _, schedule := range [][]string{found, want} {
				again, err := stage.Replay(flaw.library, in, schedule, flaw.anomaly, 40)
				if err != nil || !shows(again, flaw.anomaly) {
					t.Errorf("%v shows %v, %v; want %s", schedule, again.Found, err, flaw.anomaly)
				}
			}
		})
	}
}

// What follows after a step is found for both of its outcomes, if chance decides between them.
func TestBothWaysOfChance(t *testing.T) {
	forgets := made(func(ctx context.Context, y *toy) (library.Held, error) {
		if chance() {
			for range 10 { // so many runs pass by the choice again
				if err := y.client.Exists(ctx, library.Key).Err(); err != nil {
					return nil, err
				}
			}
			return tryOnce(ctx, y)
		}
		return tryOnce(ctx, &toy{client: y.client, unlock: func(context.Context, *toy) error { return nil }})
	}, remove)
	stage := newStage(t)
	for range 8 { // without luck
		result, err := search.Do(stage, forgets, play.Scenario{Actors: 1},
			search.Goal{Runs: 2000, Anomalies: []anomaly.Anomaly{anomaly.LeftBehind}})
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

// A lock that undoes what it may have taken, and polls, is accused of nothing.
func TestALockWithoutTheseFlaws(t *testing.T) {
	stage := newStage(t)
	v6 := library.Own("v6")
	for _, in := range exhibit.Scenarios(v6) {
		if in.Faults[play.Late] > 0 || in.Faults[play.Pause] > 0 {
			continue // a command that takes effect later than its undoing, a holder that stands still: no lock alone has an answer
		}
		result, err := search.Do(stage, v6, in, search.Goal{Runs: 5000, Anomalies: exhibit.Anomalies()})
		if err != nil || !result.Complete || len(result.Found) > 0 {
			t.Errorf("%v: %+v, %v", in, result, err)
		}
	}
}

// A lock that is released a little later, by a goroutine, is not left behind.
func TestALockThatIsUndoneLater(t *testing.T) {
	late := made(func(ctx context.Context, y *toy) (library.Held, error) {
		held, err := tryOnce(ctx, y)
		if err != nil && !errors.Is(err, errTaken) {
			time.AfterFunc(library.Poll, func() { _ = remove(context.Background(), y) })
		}
		return held, err
	}, remove)
	result, err := search.Do(newStage(t), late, scenario(t, "lost-reply=1"),
		search.Goal{Runs: 2000, Anomalies: []anomaly.Anomaly{anomaly.LeftBehind}})
	if err != nil || !result.Complete || len(result.Found) > 0 {
		t.Errorf("%+v, %v", result, err)
	}
}

// A process that crashes does nothing more, and the next one gets its lock when that has expired.
func TestACrash(t *testing.T) {
	schedule := strings.Fields("A:Lock A:SET B:Lock B:SET A:crash" + strings.Repeat(" time B:SET", 10))
	again, err := newStage(t).Replay(library.Own("v4"), scenario(t, "crash=1"), schedule, "", 1)
	if err != nil || len(again.Found) > 0 || again.Trace.Steps[len(schedule)-1].Lock != "B" {
		t.Errorf("%+v, %v", again, err)
	}
}

// A schedule with a step that cannot happen is refused, and says which step.
func TestAScheduleThatDoesNotFit(t *testing.T) {
	_, err := newStage(t).Replay(library.Own("v4"), scenario(t, ""), []string{"A:Lock", "A:DEL"}, "", 1)
	if !errors.Is(err, play.ErrStale) || !strings.Contains(err.Error(), "step 2, A:DEL") {
		t.Errorf("%v; want ErrStale for step 2", err)
	}
}

func newStage(t *testing.T) *play.Stage {
	t.Helper()
	stage, err := play.NewStage(t)
	if err != nil {
		t.Fatal(err)
	}
	return stage
}

func scenario(t *testing.T, faults string) play.Scenario {
	t.Helper()
	budget, err := play.ParseBudget(faults)
	if err != nil {
		t.Fatal(err)
	}
	return play.Scenario{Actors: 2, Faults: budget}
}

func shows(again play.Replayed, what anomaly.Anomaly) bool {
	for _, f := range again.Found {
		if f.Anomaly == what {
			return true
		}
	}
	return false
}
