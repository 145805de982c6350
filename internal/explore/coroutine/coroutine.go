// Package coroutine runs goroutines one at a time.
//
// A Coroutine is a goroutine with a baton. It runs from Resume to its next Park, and Resume returns only then; whoever calls Resume and
// the coroutine never run at the same time. So a scheduler that resumes one coroutine after the other decides every order there is, and
// what they share needs no mutex.
package coroutine

import (
	"bytes"
	"errors"
	"iter"
	"runtime"
	"sync/atomic"
)

// ErrKilled is what Park returns from Kill on.
var ErrKilled = errors.New("the coroutine was killed")

// patience is how often a coroutine that was killed may still ask to park. One that asks more often, as a loop that retries for ever
// does, is made to panic with ErrKilled, and so ends.
const patience = 100

// Coroutine is one goroutine. Park and Condemn are called by itself; everything else is called by its scheduler.
type Coroutine struct {
	resume    func() (struct{}, bool) // false: it has ended
	stop      func()
	park      func(struct{}) bool // false: it is to end
	id        goroutine           // its own, once it runs
	number    atomic.Value        // the same, as stacks print it
	ended     bool
	condemned bool
	asked     int // since then
}

// Start makes a coroutine, which waits for its first Resume. If f panics, panicked gets the value, while the stack is still there, and the
// coroutine ends.
func Start(f func(), panicked func(value any)) *Coroutine {
	c := &Coroutine{}
	c.resume, c.stop = iter.Pull(func(park func(struct{}) bool) {
		defer func() {
			if v := recover(); v != nil && v != any(ErrKilled) {
				panicked(v)
			}
		}()
		c.park, c.id = park, self()
		c.number.Store(number())
		f()
	})
	return c
}

// Resume lets it run until it parks or ends.
func (c *Coroutine) Resume() {
	_, parked := c.resume()
	c.ended = !parked
}

// Kill ends it wherever it is: from now on Park fails, until it has returned from all its functions.
func (c *Coroutine) Kill() {
	c.condemned = true
	c.stop()
	c.ended = true
}

// Mine reports whether the goroutine that asks is this one. There is no other way to know one that was started behind the scheduler's back.
func (c *Coroutine) Mine() bool { return c.id == self() }

// Goroutine is the number of its goroutine, "" if it has never run.
func (c *Coroutine) Goroutine() string {
	number, _ := c.number.Load().(string)
	return number
}

// number is what the runtime gives the goroutine that asks, as a panic would print it.
func number() string {
	var b [32]byte
	stack := b[:runtime.Stack(b[:], false)]
	return string(bytes.Fields(stack)[1])
}

// Ended reports whether it has ended.
func (c *Coroutine) Ended() bool { return c.ended }

// Condemn makes its Park fail from now on, as Kill does, but lets it run on until it returns.
func (c *Coroutine) Condemn() { c.condemned = true }

// Park gives the turn back, and returns when the next Resume gives it again. It fails with ErrKilled if the coroutine is to end instead.
func (c *Coroutine) Park() error {
	if !c.condemned && c.park(struct{}{}) {
		return nil
	}
	if c.asked++; c.asked > patience {
		panic(ErrKilled)
	}
	return ErrKilled
}
