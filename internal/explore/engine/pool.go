package engine

import (
	"bytes"
	"iter"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
)

// Pool keeps the goroutines of ended coroutines for later ones: starting a goroutine, growing its stack and reading its id take longer than
// most coroutines run. It also keeps the tasks of closed executions. The zero Pool is empty. All its coroutines must have the same
// scheduler.
type Pool struct {
	idle  []*carrier           // carriers without a coroutine
	tasks []*Task              // tasks of closed executions
	specs *[kindCount]kindSpec // copy of the kind table; nil: not yet copied
}

// kindTable returns the pool's copy of the table of transitions.
func (p *Pool) kindTable() *[kindCount]kindSpec {
	if p.specs == nil {
		rows := kindTable()
		p.specs = &rows
	}
	return p.specs
}

// takeTask returns a task that no execution uses.
func (p *Pool) takeTask() *Task {
	if n := len(p.tasks) - 1; n >= 0 {
		t := p.tasks[n]
		p.tasks = p.tasks[:n]
		return t
	}
	return &Task{coroutine: &Coroutine{}}
}

// Close ends the idle goroutines.
func (p *Pool) Close() {
	for _, idle := range p.idle {
		idle.stop()
	}
	p.idle = nil
}

// takeCarrier returns an idle carrier, or else a new one.
func (p *Pool) takeCarrier() *carrier {
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c
	}
	return newCarrier()
}

// putCarrier returns a carrier whose coroutine has ended to the pool.
func (p *Pool) putCarrier(c *carrier) { p.idle = append(p.idle, c) }

// carrier is a goroutine that runs coroutines, one after the other.
type carrier struct {
	resume      func() (struct{}, bool) // lets the goroutine run until it parks
	stop        func()                  // ends the goroutine
	park        func(struct{}) bool     // yields to the caller of resume; false: the carrier has to end
	goroutineID atomic.Value            // string: id of its goroutine, as stacks print it
	coroutine   *Coroutine              // coroutine that it runs; nil: none
}

// newCarrier returns a carrier whose goroutine starts at the first resume.
func newCarrier() *carrier {
	c := &carrier{}
	c.resume, c.stop = iter.Pull(c.carry)
	return c
}

// carry is the carrier's main loop.
func (c *carrier) carry(park func(struct{}) bool) {
	c.park = park
	c.goroutineID.Store(goroutineID())
	growStack()
	for more := true; more; more = park(struct{}{}) {
		c.run()
	}
}

// run runs the carrier's coroutine to its end.
func (c *carrier) run() {
	returned := false
	defer func() {
		v := recover()
		if v == nil && !returned {
			v = ErrCoroutineExited
		}
		if v != nil && v != any(ErrKilled) {
			c.coroutine.panicked(v)
		}
		c.coroutine = nil
	}()
	c.coroutine.f()
	returned = true
}

// growStack makes the stack grow at once to the size that most of the code needs. Otherwise it grows step by step, and is copied each
// time.
//
//go:noinline
func growStack() {
	var stack [10 << 10]byte
	runtime.KeepAlive(&stack)
}

// maxCallDepth is more than the depth of any call stack without recursion.
const maxCallDepth = 512

// isCarrier reports whether the calling goroutine is a carrier. As only one carrier runs at a time, that identifies the carrier.
// Comparing goroutine ids would be simpler, but reading an id takes ten times as long.
func isCarrier() bool {
	var calls [maxCallDepth]uintptr
	carry := reflect.ValueOf((*carrier).carry).Pointer()
	for _, call := range slices.Backward(calls[:runtime.Callers(1, calls[:])]) {
		if runtime.FuncForPC(call-1).Entry() == carry {
			return true
		}
	}
	return false
}

// goroutineID returns the id of the calling goroutine, as a panic prints it.
func goroutineID() string {
	var b [32]byte
	stack := b[:runtime.Stack(b[:], false)]
	return string(bytes.Fields(stack)[1])
}
