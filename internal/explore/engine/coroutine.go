package engine

import (
	"errors"
	"sync/atomic"
)

// ErrKilled is returned by Park after the coroutine was killed.
var ErrKilled = errors.New("the coroutine was killed")

// ErrCoroutineExited is passed to the panicked callback when the coroutine's function has ended its goroutine.
var ErrCoroutineExited = errors.New("the function has ended its goroutine")

// maxParksAfterKill is the number of times that a killed coroutine may call Park; after that, Park panics with ErrKilled. The panic ends a
// loop that retries forever. Cleaning up takes far fewer than a hundred calls.
const maxParksAfterKill = 100

// Coroutine runs a function on a goroutine of its own, and only while its scheduler waits: Resume returns when the function parks or
// ends. So a scheduler that resumes one coroutine after the other decides their order, and their shared data needs no mutex. The coroutine
// itself calls Park and Condemn; its scheduler calls everything else.
type Coroutine struct {
	pool           *Pool                   // source of carriers
	carrier        atomic.Pointer[carrier] // goroutine that runs it; nil: it has not begun, or has ended
	f              func()                  // function that it runs
	panicked       func(value any)         // called with the value of a panic
	ended          bool                    // its function has returned or panicked
	condemned      bool                    // Park fails from now on
	parksSinceKill int                     // calls of Park since it was condemned
}

// Start prepares the coroutine to run f at its first Resume. A coroutine that has ended may be started again. If f panics, panicked gets
// the value while the stack is still there, and the coroutine ends.
func (c *Coroutine) Start(pool *Pool, f func(), panicked func(value any)) {
	c.pool, c.f, c.panicked = pool, f, panicked
	c.ended, c.condemned = false, false
	c.parksSinceKill = 0
}

// Resume lets the coroutine run until it parks or ends.
func (c *Coroutine) Resume() {
	if c.ended {
		return
	}
	carrier := c.carrier.Load()
	if carrier == nil {
		carrier = c.pool.takeCarrier()
		carrier.coroutine = c
		c.carrier.Store(carrier)
	}
	carrier.resume()
	if carrier.coroutine == nil {
		c.ended = true
		c.carrier.Store(nil)
		c.pool.putCarrier(carrier)
	}
}

// Kill ends the coroutine: Park fails from now on, and the coroutine runs until its function has returned.
func (c *Coroutine) Kill() {
	c.condemned = true
	if c.carrier.Load() == nil {
		c.ended = true
	}
	c.Resume()
}

// GoroutineID returns the id of the coroutine's goroutine, as stacks print it; "" if it has none. It may be called while the coroutine
// runs.
func (c *Coroutine) GoroutineID() string {
	carrier := c.carrier.Load()
	if carrier == nil {
		return ""
	}
	number, _ := carrier.goroutineID.Load().(string)
	return number
}

// Ended reports whether the coroutine has ended.
func (c *Coroutine) Ended() bool { return c.ended }

// Condemn makes Park fail from now on, as Kill does, but does not resume the coroutine.
func (c *Coroutine) Condemn() { c.condemned = true }

// Park yields control to the scheduler, and returns at the next Resume. It fails with ErrKilled if the coroutine has to end instead.
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
