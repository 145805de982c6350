package service_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/contrast"
	"lockstep/internal/lock"
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

func (d *diary) Saw(ctx context.Context, seen service.Seen) {
	d.mu.Lock()
	defer d.mu.Unlock()
	said := string(seen.Moment)
	if ctx.Value(diaryKey{}) != lock.Owner("a") {
		said += " of nobody"
	}
	if seen.Err != nil {
		said += " failing"
	}
	d.says = append(d.says, said)
}

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
func TestObserversAreToldOfEachMoment(t *testing.T) {
	const loss = "loses failing"
	for name, test := range map[string]struct {
		locker lock.Locker
		nested int
		loses  bool
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
		"that loses its lock": {
			locker: losing{time.Second},
			loses:  true,
			want:   []string{"asks", "obtains", "leaves", "released failing", "ends failing"},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			seen := &diary{}
			sale := saleOf(&shelf{stock: 2}, strategy.ReadModifyWrite)
			sale.Locker, sale.Observers, sale.Nested, sale.Think = test.locker, service.Observers{seen}, test.nested, 2*time.Second
			_, err := sale.Sell(t.Context(), "a")
			synctest.Wait() // the loss is told by a goroutine of its own
			if lost := errors.Is(err, lock.ErrLost); lost != test.loses {
				t.Errorf("%s: %v", name, err)
			}
			if told := slices.Contains(seen.says, loss); told != test.loses {
				t.Errorf("%s: the observer was told %v", name, seen.says)
			}
			rest := slices.DeleteFunc(seen.says, func(said string) bool { return said == loss }) // it may be told a little later
			if !slices.Equal(rest, test.want) {
				t.Errorf("%s: the observer was told %v; want %v", name, rest, test.want)
			}
		})
	}
}
