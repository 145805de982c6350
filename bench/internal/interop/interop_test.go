package interop

import (
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"time"

	"lockstep/internal/lock"
)

// nodes is how many servers redlock and redsync have.
const nodes = 5

func TestV4AndRedsync(t *testing.T) {
	w := newWorld(t, 1)
	ours, theirs := w.locker("v4", "ours"), w.redsync()()
	checkRedsyncHolds(t, ours, theirs)
	checkLockstepHolds(t, ours, theirs)
}

func TestV4AndRedsyncCount(t *testing.T) { checkNothingIsLost(t, newWorld(t, 1), "v4") }

// A minority of the nodes may be down. Without a majority both say so.
func TestRedlockAndRedsync(t *testing.T) {
	w := newWorld(t, nodes)
	ours, theirs := w.locker(onMajority(t), "ours"), w.redsync()()
	for down := range nodes/2 + 1 {
		checkRedsyncHolds(t, ours, theirs)
		checkLockstepHolds(t, ours, theirs)
		if t.Failed() {
			t.Fatalf("with %d of %d nodes down", down, nodes)
		}
		w.servers[nodes-1-down].Stop()
	}
	began := time.Now()
	if _, err := ours.TryLock(t.Context(), lock.Owner("try")); !errors.Is(err, lock.ErrUnavailable) {
		t.Errorf("TryLock without a majority: %v; want ErrUnavailable", err)
	}
	if _, err := ours.Lock(t.Context(), lock.Owner("wait")); !errors.Is(err, lock.ErrUnavailable) {
		t.Errorf("Lock without a majority: %v; want ErrUnavailable", err)
	}
	if err := theirs.TryLock(); err == nil {
		t.Error("redsync got the lock without a majority, want an error")
	}
	if took := time.Since(began); took > wait/2 {
		t.Errorf("it took %v until both failed, want less", took)
	}
}

// A lock that is held outlives a minority of the nodes.
func TestNodesGoDownWhileRedlockHoldsIt(t *testing.T) {
	w := newWorld(t, nodes)
	ours, theirs := w.locker(onMajority(t), "ours"), w.redsync()()
	lease, err := ours.Lock(t.Context(), lock.Owner("hold"))
	if err != nil {
		t.Fatal(err)
	}
	w.servers[3].Stop()
	w.servers[4].Stop()
	if err := theirs.TryLock(); err == nil {
		t.Error("redsync got the lock, too, want an error")
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error("Unlock: ", err)
	}
	if err := theirs.TryLock(); err != nil {
		t.Fatal("redsync after our Unlock: ", err)
	}
	unlock(t, theirs)
}

func TestRedlockAndRedsyncCount(t *testing.T) {
	checkNothingIsLost(t, newWorld(t, nodes), onMajority(t))
}

func TestRedlockAndRedsyncCountWithNodesDown(t *testing.T) {
	w := newWorld(t, nodes)
	w.servers[3].Stop()
	w.servers[4].Stop()
	checkNothingIsLost(t, w, onMajority(t))
}

// checkNothingIsLost has workers of two processes of ours and one of redsync's count by reading and then writing.
func checkNothingIsLost(t *testing.T, w *world, name string) {
	t.Helper()
	const workers, rounds = 3, 10 // of each process
	counter := w.clients()[0]
	count := func() error {
		n, err := counter.Get(t.Context(), "counter").Int()
		if err != nil {
			return err
		}
		if err := lock.Sleep(t.Context(), lock.SystemClock{}, time.Millisecond); err != nil { // time for another to interfere
			return err
		}
		return counter.Set(t.Context(), "counter", n+1, 0).Err()
	}
	if err := counter.Set(t.Context(), "counter", 0, 0).Err(); err != nil {
		t.Fatal(err)
	}
	var working sync.WaitGroup
	start := func(turn func() error) {
		for range workers {
			working.Go(func() {
				for range rounds {
					if err := turn(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	for _, process := range []string{"first", "second"} {
		ours := w.locker(name, process)
		start(func() error {
			lease, err := ours.Lock(t.Context(), lock.Owner(rand.Text()))
			if err != nil {
				return err
			}
			return errors.Join(count(), lease.Unlock(t.Context()))
		})
	}
	redsync := w.redsync()
	start(func() error {
		mutex := redsync()
		if err := mutex.Lock(); err != nil {
			return err
		}
		err := count()
		_, unlocked := mutex.Unlock()
		return errors.Join(err, unlocked)
	})
	working.Wait()
	if n, err := counter.Get(t.Context(), "counter").Int(); err != nil || n != 3*workers*rounds {
		t.Errorf("they counted to %d, %v; want %d", n, err, 3*workers*rounds)
	}
}
