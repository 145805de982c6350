package engine

import (
	"errors"
	"sync/atomic"
)

// ErrKilled is what Park returns from Kill on.
var ErrKilled = errors.New("the coroutine was killed")

// ErrExited is what a coroutine is told to have panicked with whose function has ended its goroutine.
var ErrCoroutineExited = errors.New("the function has ended its goroutine")

// patience is how often a coroutine that was killed may still ask to park. One that asks more often, as a loop that retries for ever
// does, is made to panic with ErrKilled, and so ends.
const maxParksAfterKill = 100

// Coroutine is one function on a goroutine that has a baton. It runs from Resume to its next Park, and Resume returns only then; whoever
// calls Resume and the coroutine never run at the same time. So a scheduler that resumes one coroutine after the other decides every order
// there is, and what they share needs no mutex. Park and Condemn are called by itself; everything else is called by its scheduler.
type Coroutine struct {
	pool           *Pool
	carrier        atomic.Pointer[carrier] // its goroutine, nil before and after
	f              func()
	panicked       func(value any)
	ended          bool
	condemned      bool
	parksSinceKill int // since then
}

// Start lets it wait for its first Resume, once it has nothing else to do. If f panics, panicked gets the value, while the stack is still
// there, and the coroutine ends.
func (c *Coroutine) Start(on *Pool, f func(), panicked func(value any)) {
	c.pool, c.f, c.panicked, c.ended, c.condemned, c.parksSinceKill = on, f, panicked, false, false, 0
}

// Resume lets it run until it parks or ends.
func (c *Coroutine) Resume() {
	if c.ended {
		return
	}
	on := c.carrier.Load()
	if on == nil {
		on = c.pool.takeCarrier()
		on.coroutine = c
		c.carrier.Store(on)
	}
	on.resume()
	if on.coroutine == nil {
		c.ended = true
		c.carrier.Store(nil)
		c.pool.putCarrier(on)
	}
}

// Kill ends it wherever it is: from now on Park fails, until it has returned from all its functions.
func (c *Coroutine) Kill() {
	c.condemned = true
	if c.carrier.Load() == nil {
		c.ended = true
	}
	c.Resume()
}

// Goroutine returns the number of its goroutine, "" if it has none. It may be called while the coroutine runs.
func (c *Coroutine) GoroutineID() string {
	on := c.carrier.Load()
	if on == nil {
		return ""
	}
	number, _ := on.goroutineID.Load().(string)
	return number
}

// Ended reports whether it has ended.
func (c *Coroutine) Ended() bool { return c.ended }

// Condemn makes its Park fail from now on, as Kill does, but lets it run on until it returns.
func (c *Coroutine) Condemn() { c.condemned = true }

// Park gives the turn back, and returns when the next Resume gives it again. It fails with ErrKilled if the coroutine is to end instead.
func (c *Coroutine) Park() error {
	if !c.condemned {
		c.carrier.Load().park(struct{}{})
	}
	if !c.condemned {
		return nil
	}
	if c.parksSinceKill++; c.parksSinceKill > maxParksAfterKill {
		panic(ErrKilled)
	}
	return ErrKilled
}
