package engine

import (
	"bytes"
	"iter"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
)

// Pool keeps the goroutines of coroutines that have ended for others: to make one, to let its stack grow, and to ask for its number takes
// longer than most of them run. So it does the tasks of executions that are closed. The zero Pool is empty. Its coroutines have one
// scheduler.
type Pool struct {
	idle  []*carrier
	tasks []*Task
	specs *[kindCount]kindSpec // the table, copied once; nil: not yet
}

// table returns the table of transitions.
func (p *Pool) kindTable() *[kindCount]kindSpec {
	if p.specs == nil {
		rows := kindTable()
		p.specs = &rows
	}
	return p.specs
}

// task gives one that has nothing to do.
func (p *Pool) takeTask() *Task {
	if n := len(p.tasks) - 1; n >= 0 {
		t := p.tasks[n]
		p.tasks = p.tasks[:n]
		return t
	}
	return &Task{coroutine: &Coroutine{}}
}

// Close ends the goroutines that are idle.
func (p *Pool) Close() {
	for _, idle := range p.idle {
		idle.stop()
	}
	p.idle = nil
}

func (p *Pool) takeCarrier() *carrier {
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c
	}
	return newCarrier()
}

func (p *Pool) putCarrier(c *carrier) { p.idle = append(p.idle, c) }

// carrier is a goroutine that runs one coroutine after the other.
type carrier struct {
	resume      func() (struct{}, bool)
	stop        func()
	park        func(struct{}) bool // false: it is to end
	goroutineID atomic.Value        // its goroutine's, as stacks print it
	coroutine   *Coroutine          // nil: none
}

func newCarrier() *carrier {
	c := &carrier{}
	c.resume, c.stop = iter.Pull(c.carry)
	return c
}

// carry is what its goroutine does.
func (c *carrier) carry(park func(struct{}) bool) {
	c.park = park
	c.goroutineID.Store(goroutineID())
	growStack()
	for more := true; more; more = park(struct{}{}) {
		c.run()
	}
}

// run runs its coroutine to the end.
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

// makeRoom lets the stack grow at once to what most of the code needs. Otherwise it grows bit by bit, and is copied each time.
//
//go:noinline
func growStack() {
	var room [10 << 10]byte
	runtime.KeepAlive(&room)
}

// depth is more than the calls that a stack has which no recursion has made.
const maxCallDepth = 512

// isCarrier reports whether the goroutine that asks is a carrier's, of which one runs at a time. Its number would say which, but to print
// a stack takes ten times as long.
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

// number returns what the runtime gives the goroutine that asks, as a panic would print it.
func goroutineID() string {
	var b [32]byte
	stack := b[:runtime.Stack(b[:], false)]
	return string(bytes.Fields(stack)[1])
}
