package tab

import (
	"io"
	"sync"
)

// Gate is what roads lead through. While it is shut, whatever is on its way waits there, in both directions; nothing is lost. The zero Gate
// is open.
type Gate struct {
	mu    sync.Mutex
	open  chan struct{} // closed when it opens; nil: it is open
	roads map[io.Closer]bool
}

// HangUp ends the connections that lead through it: a worker that is terminated does not tell their other ends.
func (g *Gate) HangUp() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for road := range g.roads {
		_ = road.Close()
	}
}

// Shut shuts it.
func (g *Gate) Shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = make(chan struct{})
	}
}

// Open opens it.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open != nil {
		close(g.open)
		g.open = nil
	}
}

// pass waits until it is open.
func (g *Gate) pass() {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	if open != nil {
		<-open
		g.pass() // it may be shut again
	}
}

// through is a writer behind the gate.
func (g *Gate) through(w io.Writer) io.Writer { return gated{w, g} }

type gated struct {
	io.Writer

	gate *Gate
}

func (g gated) Write(piece []byte) (int, error) {
	g.gate.pass()
	return g.Writer.Write(piece)
}
