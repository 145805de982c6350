package locktest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// errContract means that a lock does not keep to what this package asks of it.
var errContract = errors.New("the lock breaks its contract")

// standing is where an actor stands.
type standing int

const (
	idle standing = iota
	locking
	inside
	unlocking
	done
)

// actor locks once, and unlocks.
type actor struct {
	name    string
	process *process
	run     *run

	mu        sync.Mutex
	standing  standing
	cancel    context.CancelFunc
	cancelled bool
	obtained  bool // its Lock succeeded
	believed  bool // that it holds the lock, when its process paused
	held      Held
	err       error // of the call that was its last
}

// look gives where it stands, and the error of its last call.
func (a *actor) look() (standing, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.standing, a.err
}

// is reports whether it stands there.
func (a *actor) is(s standing) bool {
	now, _ := a.look()
	return now == s
}

// believes reports whether it may believe that it holds the lock.
func (a *actor) believes() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.process.paused {
		return a.believed
	}
	return a.standing == inside && valid(a.held)
}

func valid(held Held) bool {
	if v, tells := held.(interface{ Valid() bool }); tells && !v.Valid() {
		return false
	}
	c, tells := held.(interface{ Context() context.Context })
	return !tells || c.Context().Err() == nil
}

// token returns a holder's fencing token, 0 if it has none.
func (a *actor) token() int64 {
	if t, has := a.held.(interface{ Token() int64 }); has {
		return t.Token()
	}
	return 0
}

// become says where an actor stands now. One that has crashed stays where it is: what its code does then, nobody sees.
func (a *actor) become(s standing, held Held, err error) {
	a.mu.Lock()
	crashed := a.process.crashed
	a.held = held
	if !crashed {
		a.standing, a.err = s, err
		if s == inside {
			a.obtained, a.run.stage.obtained = true, true
		}
	}
	a.mu.Unlock()
	if !crashed {
		a.run.server.Wake()
	}
}

// enter notes that it has the lock.
func (a *actor) enter(held Held) {
	a.become(inside, held, nil)
	token := a.token()
	if _, has := held.(interface{ Token() int64 }); has && token <= a.run.token && !a.process.crashed {
		a.run.find(TokenOrder, "%s gets the token %d after %d was given", a.name, token, a.run.token)
	}
	a.run.token = max(a.run.token, token)
}

// lock makes a call, of Lock or TryLock, and comes back at once.
func (a *actor) lock(call func(context.Context) (Held, error)) {
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	a.become(locking, nil, nil)
	go func() {
		growStack()
		switch held, err := call(ctx); {
		case err != nil:
			a.become(done, nil, err)
		case held == nil:
			a.become(done, nil, fmt.Errorf("%w: Lock gives no lock and no error", errContract))
		default:
			a.enter(held)
		}
	}()
}

// growStack gives a goroutine a large stack at once: a client's calls go deep, and to grow piece by piece costs a tenth of a search.
//
//go:noinline
func growStack() {
	var room [12 << 10]byte
	runtime.KeepAlive(&room)
}

// unlock calls Unlock, and comes back at once.
func (a *actor) unlock() {
	held := a.held
	a.become(unlocking, held, nil)
	go func() {
		growStack()
		a.become(done, nil, held.Unlock(context.Background()))
	}()
}
