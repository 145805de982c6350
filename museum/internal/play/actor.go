package play

import (
	"context"
	"sync"

	"lockstep/museum/internal/library"
)

// state is where an actor stands.
type state int

const (
	idle state = iota
	locking
	inside
	unlocking
	done
)

// actor locks once, and unlocks.
type actor struct {
	name    string
	process *process
	stir    func()

	mu        sync.Mutex
	state     state
	cancel    context.CancelFunc
	cancelled bool
	obtained  bool // its Lock succeeded
	believed  bool // that it holds the lock, when its process paused
	held      library.Held
	err       error // of the call that was its last
}

// look gives where it stands, and the error of its last call.
func (a *actor) look() (state, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state, a.err
}

// is reports whether it stands there.
func (a *actor) is(s state) bool {
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
	return a.state == inside && a.held.Valid()
}

// become says where an actor stands now. One that has crashed stays where it is: what its code does then, nobody sees.
func (a *actor) become(s state, held library.Held, err error) {
	a.mu.Lock()
	crashed := a.process.crashed
	a.held = held
	if !crashed {
		a.state, a.err = s, err
		a.obtained = a.obtained || s == inside
	}
	a.mu.Unlock()
	if !crashed {
		a.stir()
	}
}

// lock calls Lock, and comes back at once.
func (a *actor) lock() {
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	a.become(locking, nil, nil)
	go func() {
		held, err := a.process.client.Lock(ctx)
		if err != nil {
			a.become(done, nil, err)
			return
		}
		a.become(inside, held, nil)
	}()
}

// unlock calls Unlock, and comes back at once.
func (a *actor) unlock() {
	held := a.held
	a.become(unlocking, held, nil)
	go func() { a.become(done, nil, held.Unlock(context.Background())) }()
}
