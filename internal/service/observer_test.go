package service_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/contrast"
	"lockstep/internal/service"
	"lockstep/internal/strategy"
)

// recordingObserver is an observer that records the events, and whether they come with the context of sale a.
type recordingObserver struct {
	mu   sync.Mutex
	says []string // moments of the events so far
}

type diaryKey struct{}

func (*recordingObserver) Follow(ctx context.Context, _, owner string) context.Context {
	return context.WithValue(ctx, diaryKey{}, owner)
}

func (d *recordingObserver) Observe(ctx context.Context, event service.SaleEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	said := string(event.Moment)
	if ctx.Value(diaryKey{}) != lock.Owner("a") {
		said += " of nobody"
	}
	if event.Err != nil {
		said += " failing"
	}
	d.says = append(d.says, said)
}

// takenLock is a lock that another owner holds forever.
type takenLock struct{ lock.Locker }

func (takenLock) Lock(context.Context, string) (*lock.Lease, error) { return nil, lock.ErrTimeout }

// expiringLock is a lock that is lost some time after it was obtained.
type expiringLock struct{ after time.Duration }

func (l expiringLock) Lock(ctx context.Context, _ string) (*lock.Lease, error) {
	ctx, lose := context.WithCancelCause(ctx)
	time.AfterFunc(l.after, func() { lose(lock.ErrLost) })
	return lock.NewLease(ctx, lock.SystemClock{}, 0, func(context.Context) error { return lock.ErrExpired }), nil
}

func (l expiringLock) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.Lock(ctx, owner)
}

// An observer receives each moment of a sale, in order, with the sale's context.
func TestObserversReceiveEachMoment(t *testing.T) {
	const loss = "loses failing"
	for name, test := range map[string]struct {
		locker lock.Locker
		nested int
		fails  error
		want   []string
	}{
		"a sale": {
			locker: contrast.NewNone(lock.Options{Clock: lock.SystemClock{}}),
			want:   []string{"asks", "obtains", "leaves", "released", "ends"},
		},
		"with a nested call": {
			locker: contrast.NewNone(lock.Options{Clock: lock.SystemClock{}}), nested: 1,
			want: []string{"asks", "obtains", "asks", "obtains", "leaves", "released", "leaves", "released", "ends"},
		},
		"that does not get its lock": {
			locker: takenLock{},
			fails:  lock.ErrTimeout,
			want:   []string{"asks", "misses failing", "ends failing"},
		},
		"that loses its lock": {
			locker: expiringLock{time.Second},
			fails:  lock.ErrLost,
			want:   []string{"asks", "obtains", "leaves", "released failing", "ends failing"},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			event := &recordingObserver{}
			sale := newSale(&memoryStock{stock: 2}, strategy.ReadModifyWrite)
			sale.Locker, sale.Observers, sale.Nested, sale.Think = test.locker, service.Observers{event}, test.nested, 2*time.Second
			_, err := sale.Sell(t.Context(), "a", lock.Owner("a"))
			synctest.Wait() // a separate goroutine reports the loss
			if !errors.Is(err, test.fails) {
				t.Errorf("%s: %v; want %v", name, err, test.fails)
			}
			if told := slices.Contains(event.says, loss); told != errors.Is(test.fails, lock.ErrLost) {
				t.Errorf("%s: the observer received %v; want %q: %t", name, event.says, loss, !told)
			}
			rest := slices.DeleteFunc(event.says, func(said string) bool { return said == loss }) // the loss may be reported a little later
			if !slices.Equal(rest, test.want) {
				t.Errorf("%s: the observer received %v; want %v", name, rest, test.want)
			}
		})
	}
}

// timingObserver adds up how long sales waited for their lock and held it.
type timingObserver struct{ waited, held time.Duration }

func (*timingObserver) Follow(ctx context.Context, _, _ string) context.Context { return ctx }
func (w *timingObserver) Observe(_ context.Context, event service.SaleEvent) {
	switch {
	case event.Nested > 0 || event.Lock != "v0":
	case event.Moment == service.Obtains:
		w.waited += event.Took
	case event.Moment == service.Released:
		w.held += event.Took
	}
}

// slowLock is a lock that takes a second to obtain, and a second to release.
type slowLock struct{ lock.Locker }

func (slowLock) Lock(ctx context.Context, _ string) (*lock.Lease, error) {
	wait := func(ctx context.Context) error { return lock.Sleep(ctx, lock.SystemClock{}, time.Second) }
	return lock.NewLease(ctx, lock.SystemClock{}, 0, wait), wait(ctx)
}

// All observers receive the times that the buyer's receipt contains, and in addition the time of the release.
func TestObserversReceiveWaitAndHoldTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sale := newSale(&memoryStock{stock: 2}, strategy.ReadModifyWrite)
		one, other := &timingObserver{}, &timingObserver{}
		sale.Locker, sale.Think, sale.Nested, sale.Observers = slowLock{}, 5*time.Second, 1, service.Observers{one, other}
		sale.Run.Lock = "v0"
		receipt, err := sale.Sell(t.Context(), "a", lock.Owner("a"))
		if err != nil || receipt.Wait != time.Second || receipt.Hold != 7*time.Second { // 5 s of Think, and 2 s for the nested call
			t.Errorf("%v, waited %v, held %v", err, receipt.Wait, receipt.Hold)
		}
		if want := (timingObserver{time.Second, 8 * time.Second}); *one != want || *other != want {
			t.Errorf("the observers received %v and %v; want %v", *one, *other, want)
		}
	})
}
