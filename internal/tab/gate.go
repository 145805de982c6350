package tab

import (
	"io"
	"sync"
)

// Gate controls forwarded connections. While it is shut, data in both directions waits at the gate, and none is lost. The zero Gate is
// open.
type Gate struct {
	mu    sync.Mutex
	open  chan struct{}      // closed when it opens; nil: it is open
	conns map[io.Closer]bool // connections that are forwarded through the gate
}

// CloseAll closes the connections that are forwarded through the gate. A terminated worker does not close its own.
func (g *Gate) CloseAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for conn := range g.conns {
		_ = conn.Close()
	}
}

// Shut holds what is written through the gate until Open.
func (g *Gate) Shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = make(chan struct{})
	}
}

// Open lets writes pass again.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open != nil {
		close(g.open)
		g.open = nil
	}
}

// wait waits until the gate is open.
func (g *Gate) wait() {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	if open != nil {
		<-open
		g.wait() // The gate may have been shut again.
	}
}

// writer returns a writer that writes to w while the gate is open, and waits while it is shut.
func (g *Gate) writer(w io.Writer) io.Writer { return gatedWriter{w, g} }

// gatedWriter writes to Writer while the gate is open.
type gatedWriter struct {
	io.Writer

	gate *Gate
}

// Write implements io.Writer. It waits while the gate is shut.
func (w gatedWriter) Write(data []byte) (int, error) {
	w.gate.wait()
	return w.Writer.Write(data)
}
