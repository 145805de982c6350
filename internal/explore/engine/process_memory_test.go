package engine

import (
	"context"
	"testing"

	"lockstep/internal/lock"
)

// node is a part of a queue in memory.
type node struct {
	owner string
	next  *node
}

// queueLock is the memory of a lock, with fields of all kinds.
type queueLock struct {
	opts    lock.Options
	first   *node
	tickets map[string]int
	order   []string
	busy    bool
	turn    chan struct{}
	any     any
	release func(context.Context) error
	results chan int
}

func TestMemoryHashFollowsEveryChange(t *testing.T) {
	l := &queueLock{tickets: map[string]int{"A": 1, "B": 2}, order: []string{"A"}, turn: make(chan struct{}, 1)}
	l.opts.Rand = func(int64) int64 { return 0 } // the engine's
	l.first = &node{"A", &node{"B", nil}}
	l.first.next.next = l.first // a circle
	p := &Process{x: &Execution{}}
	p.x.Hasher = NewHasher(NewSeeds())
	p.ShareMemory([]lock.Options{})
	if _, ok := p.memoryHash(); !ok {
		t.Error("nothing is unreadable in an empty list")
	}
	p.ShareMemory(l)
	last, ok := p.memoryHash()
	if again, _ := p.memoryHash(); !ok || again != last {
		t.Errorf("got %x, then %x, %v; want the same twice, and readable", last, again, ok)
	}
	for name, change := range map[string]func(){
		"a flag":                     func() { l.busy = true },
		"a counter in a map":         func() { l.tickets["B"]++ },
		"an entry of a map":          func() { delete(l.tickets, "A") },
		"an element":                 func() { l.order[0] = "B" },
		"behind two pointers":        func() { l.first.next.owner = "C" },
		"another pointer":            func() { l.first = &node{"A", l.first.next} },
		"a token in a channel":       func() { l.turn <- struct{}{} },
		"what is behind an any":      func() { l.any = 7 },
		"a field of the options":     func() { l.opts.TTL++ },
		"a longer slice, cut before": func() { l.order = append(l.order, "C") },
	} {
		t.Run(name, func(t *testing.T) {
			change()
			hash, ok := p.memoryHash()
			if !ok || hash == last {
				t.Errorf("got %x, %v; want a hash other than before", hash, ok)
			}
			last = hash
		})
	}
}

func TestMemoryBehindClosuresIsNotKnown(t *testing.T) {
	for name, l := range map[string]*queueLock{
		"a function":            {release: func(context.Context) error { return nil }},
		"a channel with values": {results: make(chan int, 1)},
		"a function in an any":  {any: func() {}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &Process{x: &Execution{}}
			p.x.Hasher = NewHasher(NewSeeds())
			p.ShareMemory(l)
			if _, ok := p.memoryHash(); ok {
				t.Error("its memory is said to be known")
			}
		})
	}
}
