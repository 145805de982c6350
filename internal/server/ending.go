package server

import (
	"context"
	"time"

	"lockstep/internal/cluster"
)

const lookTime = 10 * time.Millisecond // between two looks at the connections

// KeptTime is how long a server that ends keeps connections open that wait for a request: for longer than a proxy in front keeps them
// idle, or a request could meet the end of its connection.
const KeptTime = 2 * cluster.IdleTime

// drain takes no more connections, tells those that are open with their next answer that it is their last one, and returns when all are
// closed, or after KeptTime. http.Server.Shutdown would close idle connections at once, and drop new ones even if their request is on its
// way. The listener is closed first: clients that are told to connect again would meet its end. drain returns sooner if ctx ends, and at
// once when it is called again.
func (s *webServer) drain(ctx context.Context) { s.drained.Do(func() { s.drainOnce(ctx) }) }

func (s *webServer) drainOnce(ctx context.Context) {
	s.stopListening()
	s.entrance.End()
	kept := time.NewTimer(KeptTime)
	defer kept.Stop()
	look := time.NewTicker(lookTime)
	defer look.Stop()
	for s.listener.connections() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-kept.C:
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
