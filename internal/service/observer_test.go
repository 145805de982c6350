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

// diary is an observer that writes down what it is told, and of whom.
type diary struct {
	mu   sync.Mutex
	says []string
}

type diaryKey struct{}

func (*diary) Follow(ctx context.Context, _, owner string) context.Context {
	return context.WithValue(ctx, diaryKey{}, owner)
}

func (d *diary) Observe(ctx context.Context, event service.SaleEvent) {
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

// taken is a lock that is another's for ever.
type taken struct{ lock.Locker }

func (taken) Lock(context.Context, string) (*lock.Lease, error) { return nil, lock.ErrTimeout }

// losing is a lock that is lost while the sale thinks.
type losing struct{ after time.Duration }

func (l losing) Lock(ctx context.Context, _ string) (*lock.Lease, error) {
	ctx, lose := context.WithCancelCause(ctx)
	time.AfterFunc(l.after, func() { lose(lock.ErrLost) })
	return lock.NewLease(ctx, lock.SystemClock{}, 0, func(context.Context) error { return lock.ErrExpired }), nil
}

func (l losing) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.Lock(ctx, owner)
}

// An observer is told of each moment of a sale, in order, with the sale's context.
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
			locker: taken{},
			fails:  lock.ErrTimeout,
			want:   []string{"asks", "misses failing", "ends failing"},
		},
		"that loses its lock": {
			locker: losing{time.Second},
			fails:  lock.ErrLost,
			want:   []string{"asks", "obtains", "leaves", "released failing", "ends failing"},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			event := &diary{}
			sale := saleOf(&shelf{stock: 2}, strategy.ReadModifyWrite)
			sale.Locker, sale.Observers, sale.Nested, sale.Think = test.locker, service.Observers{event}, test.nested, 2*time.Second
			_, err := sale.Sell(t.Context(), "a", lock.Owner("a"))
			synctest.Wait() // the loss is told by a goroutine of its own
			if !errors.Is(err, test.fails) {
				t.Errorf("%s: %v; want %v", name, err, test.fails)
			}
			if told := slices.Contains(event.says, loss); told != errors.Is(test.fails, lock.ErrLost) {
				t.Errorf("%s: the observer was told %v", name, event.says)
			}
			rest := slices.DeleteFunc(event.says, func(said string) bool { return said == loss }) // it may be told a little later
			if !slices.Equal(rest, test.want) {
				t.Errorf("%s: the observer was told %v; want %v", name, rest, test.want)
			}
		})
	}
}

// watch adds up how long sales waited for their lock and held it.
type watch struct{ waited, held time.Duration }

func (*watch) Follow(ctx context.Context, _, _ string) context.Context { return ctx }
func (w *watch) Observe(_ context.Context, event service.SaleEvent) {
	switch {
	case event.Nested > 0 || event.Lock != "v0":
	case event.Moment == service.Obtains:
		w.waited += event.Took
	case event.Moment == service.Released:
		w.held += event.Took
	}
}

// slowly is a lock that takes a second to obtain, and one to release.
type slowly struct{ lock.Locker }

func (slowly) Lock(ctx context.Context, _ string) (*lock.Lease, error) {
	wait := func(ctx context.Context) error { return lock.Sleep(ctx, lock.SystemClock{}, time.Second) }
	return lock.NewLease(ctx, lock.SystemClock{}, 0, wait), wait(ctx)
}

// What observers are told is what the buyer's receipt says, but for the release. All of them are told.
func TestObserversReceiveWaitAndHoldTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sale := saleOf(&shelf{stock: 2}, strategy.ReadModifyWrite)
		one, other := &watch{}, &watch{}
		sale.Locker, sale.Think, sale.Nested, sale.Observers = slowly{}, 5*time.Second, 1, service.Observers{one, other}
		sale.Run.Lock = "v0"
		receipt, err := sale.Sell(t.Context(), "a", lock.Owner("a"))
		if err != nil || receipt.Wait != time.Second || receipt.Hold != 7*time.Second { // with a nested call's second and second
			t.Errorf("%v, waited %v, held %v", err, receipt.Wait, receipt.Hold)
		}
		if want := (watch{time.Second, 8 * time.Second}); *one != want || *other != want {
			t.Errorf("the observers were told %v and %v; want %v", *one, *other, want)
		}
	})
}
