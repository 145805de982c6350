// Package coroutine runs goroutines one at a time.
//
// A Coroutine is a goroutine with a baton. It runs from Resume to its next Park, and Resume returns only then; whoever calls Resume and
// the coroutine never run at the same time. So a scheduler that resumes one coroutine after the other decides every order there is, and
// what they share needs no mutex.
package coroutine

import (
	"bytes"
	"errors"
	"runtime"
)

// ErrKilled is what Park returns from Kill on.
var ErrKilled = errors.New("the coroutine was killed")

// patience is how often a coroutine that was killed may still ask to park. One that asks more often, as a loop that retries for ever
// does, is made to panic with ErrKilled, and so ends.
const patience = 100

// Coroutine is one goroutine. Park and Condemn are called by itself; everything else is called by its scheduler.
type Coroutine struct {
	turn      chan bool // true: go on; false: end
	back      chan bool // true: it has parked; false: it has ended
	id        string    // of its goroutine
	ended     bool
	condemned bool
	asked     int // since then
}

// Start makes a coroutine, which waits for its first Resume. If f panics, panicked gets the value, and the coroutine ends.
func Start(f func(), panicked func(value any)) *Coroutine {
	c := &Coroutine{turn: make(chan bool), back: make(chan bool)}
	go func() {
		defer func() { c.back <- false }()
		defer func() {
			if v := recover(); v != nil && v != any(ErrKilled) {
				panicked(v)
			}
		}()
		if <-c.turn {
			c.id = goroutine()
			f()
		}
	}()
	return c
}

// Resume lets it run until it parks or ends.
func (c *Coroutine) Resume() { c.give(true) }

// Kill ends it wherever it is: from now on Park fails, until it has returned from all its functions.
func (c *Coroutine) Kill() {
	c.condemned = true
	c.give(false)
}

func (c *Coroutine) give(turn bool) {
	c.turn <- turn
	c.ended = !<-c.back
}

// Mine reports whether the goroutine that asks is this one. There is no other way to know one that was started behind the scheduler's back.
func (c *Coroutine) Mine() bool { return c.id == goroutine() }

// goroutine is the number that the runtime gives the goroutine that asks, as a panic would print it.
func goroutine() string {
	var b [32]byte
	stack := b[:runtime.Stack(b[:], false)]
	words := bytes.Fields(stack)
	return string(words[1])
}

// Ended reports whether it has ended.
func (c *Coroutine) Ended() bool { return c.ended }

// Condemn makes its Park fail from now on, as Kill does, but lets it run on until it returns.
func (c *Coroutine) Condemn() { c.condemned = true }

// Park gives the turn back, and returns when the next Resume gives it again. It fails with ErrKilled if the coroutine is to end instead.
func (c *Coroutine) Park() error {
	if !c.condemned {
		c.back <- true
		if <-c.turn {
			return nil
		}
	}
	if c.asked++; c.asked > patience {
		panic(ErrKilled)
	}
	return ErrKilled
}
