package locktest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lockstep/locktest"
)

// lease is what a lock of another form gives its holder.
type lease struct {
	locktest.Held
	ctx   context.Context //nolint:containedctx // the lock says by it that it has expired
	token int64
}

type adapter = locktest.Adapter[*lease]

// adapted opens a lock that is right while nobody is slow, with these functions more.
func adapted(more func(*adapter)) open {
	return func(p locktest.Process) (locktest.Lock, error) {
		y := &toy{client(p, 0), nil, nil}
		a := adapter{
			Acquire: func(ctx context.Context) (*lease, error) {
				h, err := polled(takenBy(compareAndDelete, true))(ctx, y)
				ends, cancel := context.WithTimeout(context.Background(), ttl)
				p.Cleanup(cancel)
				return &lease{h, ends, 1}, err
			},
			Release: func(l *lease, ctx context.Context) error { return l.Unlock(ctx) },
		}
		more(&a)
		return a, nil
	}
}

// What an Adapter has tells the judge, and what it has not is not missed.
func TestAdapter(t *testing.T) {
	for name, c := range map[string]struct {
		more   func(*adapter)
		faults string
		found  locktest.Anomaly // "" for none
	}{
		"the two it has to have":    {func(*adapter) {}, "", ""},
		"nothing tells of a loss":   {func(*adapter) {}, "slow=1", locktest.TwoHolders},
		"Valid tells of a loss":     {func(a *adapter) { a.Valid = func(l *lease) bool { return l.ctx.Err() == nil } }, "slow=1", ""},
		"a context tells of a loss": {func(a *adapter) { a.Context = func(l *lease) context.Context { return l.ctx } }, "slow=1", ""},
		"a token that does not grow": {
			func(a *adapter) { a.Token = func(l *lease) int64 { return l.token } }, "", locktest.TokenOrder,
		},
		"trying lets everybody in": {func(a *adapter) {
			a.TryAcquire = func(context.Context) (*lease, error) { return &lease{Held: held{release: nothingLeft}}, nil }
		}, "", locktest.TwoHolders},
	} {
		t.Run(name, func(t *testing.T) {
			config := config(c.faults)
			config.Allow = nil
			result, err := locktest.Search(t, config, adapted(c.more))
			var found locktest.Anomaly
			if len(result.Found) > 0 {
				found = result.Found[0].Anomaly
			}
			if err != nil || found != c.found || len(result.Found) > 1 {
				t.Errorf("%+v, %v; want %q", result.Found, err, c.found)
			}
		})
	}
}

func nothingLeft(context.Context) error { return nil }

// An Adapter that lacks a function it has to have, or gives nothing, is no lock that nobody ever gets.
func TestAdapterThatLacksAFunction(t *testing.T) {
	for wants, more := range map[string]func(*adapter){
		"Adapter.Acquire is nil": func(a *adapter) { a.Acquire = nil },
		"Adapter.Release is nil": func(a *adapter) { a.Release = nil },
		"Adapter.Acquire returns neither a lock nor an error": func(a *adapter) {
			a.Acquire = func(context.Context) (*lease, error) { return nil, nil } //nolint:nilnil // that is the fault
		},
	} {
		t.Run(wants, func(t *testing.T) {
			if _, err := locktest.Search(t, config(""), adapted(more)); !strings.Contains(fmt.Sprint(err), wants) {
				t.Errorf("it says %v; want %q", err, wants)
			}
		})
	}
}
