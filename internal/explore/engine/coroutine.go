package engine

import (
	"errors"
	"sync/atomic"
)

// ErrKilled is returned by Park once the coroutine was killed.
var ErrKilled = errors.New("the coroutine was killed")

// ErrCoroutineExited is passed to the panicked callback when the coroutine's function has ended its goroutine.
var ErrCoroutineExited = errors.New("the function has ended its goroutine")

// maxParksAfterKill is how often a killed coroutine may still call Park. One that calls it more often, as a loop that retries forever
// does, panics with ErrKilled, and so ends. A hundred is far more than cleaning up takes.
const maxParksAfterKill = 100

// Coroutine runs a function on a goroutine of its own, and only while its scheduler waits: Resume returns when the function parks or
// ends. So a scheduler that resumes one coroutine after the other decides their order, and what they share needs no mutex. The coroutine
// itself calls Park and Condemn; its scheduler calls everything else.
type Coroutine struct {
	pool           *Pool
	carrier        atomic.Pointer[carrier] // goroutine that runs it; nil: it has not begun, or has ended
	f              func()                  // function that it runs
	panicked       func(value any)         // called with the value of a panic
	ended          bool
	condemned      bool // Park fails from now on
	parksSinceKill int  // calls of Park since it was condemned
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
	on := c.carrier.Load()
	if on == nil {
		return ""
	}
	number, _ := on.goroutineID.Load().(string)
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
