package locktest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lockstep/locktest"
)

// lease is the result of Acquire in the tests of Adapter.
type lease struct {
	locktest.Held
	ctx   context.Context //nolint:containedctx // ends when the lock expires
	token int64
}

type adapter = locktest.Adapter[*lease]

// openAdapter opens a lock that is correct while no process is slow, with further functions of Adapter set by more.
func openAdapter(more func(*adapter)) open {
	return func(p locktest.Process) (locktest.Lock, error) {
		y := &toy{newClient(p, 0), nil, nil}
		a := adapter{
			Acquire: func(ctx context.Context) (*lease, error) {
				h, err := polled(lockByOwner(compareAndDelete, true))(ctx, y)
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

// The judge uses the functions that an Adapter has, and does not need the others.
func TestAdapterUsesOptionalFunctions(t *testing.T) {
	for name, c := range map[string]struct {
		more   func(*adapter)
		faults string
		found  locktest.Anomaly // "": none
	}{
		"the two it has to have":    {func(*adapter) {}, "", ""},
		"nothing tells of a loss":   {func(*adapter) {}, "slow=1", locktest.TwoHolders},
		"Valid tells of a loss":     {func(a *adapter) { a.Valid = func(l *lease) bool { return l.ctx.Err() == nil } }, "slow=1", ""},
		"a context tells of a loss": {func(a *adapter) { a.Context = func(l *lease) context.Context { return l.ctx } }, "slow=1", ""},
		"a token that does not grow": {
			func(a *adapter) { a.Token = func(l *lease) int64 { return l.token } }, "", locktest.TokenOrder,
		},
		"trying lets everybody in": {func(a *adapter) {
			a.TryAcquire = func(context.Context) (*lease, error) { return &lease{Held: held{release: releaseNothing}}, nil }
		}, "", locktest.TwoHolders},
	} {
		t.Run(name, func(t *testing.T) {
			config := newConfig(c.faults)
			config.Allow = nil
			result, err := locktest.Search(t, config, openAdapter(c.more))
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

func releaseNothing(context.Context) error { return nil }

// An Adapter without a required function, or whose Acquire returns nothing, is refused with the reason.
func TestIncompleteAdapterIsRefused(t *testing.T) {
	for wants, more := range map[string]func(*adapter){
		"Adapter.Acquire is nil": func(a *adapter) { a.Acquire = nil },
		"Adapter.Release is nil": func(a *adapter) { a.Release = nil },
		"Adapter.Acquire returns neither a lock nor an error": func(a *adapter) {
			a.Acquire = func(context.Context) (*lease, error) { return nil, nil } //nolint:nilnil // the mistake under test
		},
	} {
		t.Run(wants, func(t *testing.T) {
			if _, err := locktest.Search(t, newConfig(""), openAdapter(more)); !strings.Contains(fmt.Sprint(err), wants) {
				t.Errorf("error %v; want %q", err, wants)
			}
		})
	}
}
