package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"lockstep/internal/cluster"
)

const lookTime = 10 * time.Millisecond // between two looks at the connections

// KeptTime is how long a server that ends keeps a connection open that waits for a request: for longer than a proxy in front keeps it
// idle, or a request could meet its end.
const KeptTime = 2 * cluster.IdleTime

// drain takes no more connections, tells those that are open with their next answer that it is their last one, and returns when no
// request is to be expected on any: nothing has begun or ended on it for KeptTime, or it is closed. http.Server.Shutdown would close idle
// connections at once, and drop new ones even if their request is on its way. The listener is closed first: clients that are told to
// connect again would meet its end. drain returns sooner if ctx ends.
func (s *webServer) drain(ctx context.Context) {
	s.stopListening()
	s.entrance.End()
	look := time.NewTicker(lookTime)
	defer look.Stop()
	for !s.connections.isQuiet(time.Now().Add(-KeptTime)) {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// stopListening returns when no more connections are accepted.
func (s *webServer) stopListening() {
	if s.ending.end() {
		select {
		case <-s.served:
		case <-time.After(lastTime): // net/http pauses when it cannot accept
		}
	}
	_ = s.listener.Close() // it may be closed
	<-s.served
}

// connections has those that are open, with the time since when each is new, idle, or has its request.
type connections struct {
	mu    sync.Mutex
	since map[net.Conn]time.Time
}

// observe is for http.Server.ConnState.
func (c *connections) observe(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(c.since, conn)
	} else {
		c.since[conn] = time.Now()
	}
}

// isQuiet reports whether nothing has changed since some time on those that are open.
func (c *connections) isQuiet(time time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, since := range c.since {
		if since.After(time) {
			return false
		}
	}
	return true
}
