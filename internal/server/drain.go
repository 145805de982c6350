package server

import (
	"context"
	"time"

	"lockstep/internal/cluster"
)

const drainPollInterval = 10 * time.Millisecond // interval between two checks of the open connections

// DrainTime is how long an ending server keeps idle connections open. It exceeds the idle timeout of a proxy in front; otherwise a request
// could arrive on a connection that is being closed.
const DrainTime = 2 * cluster.IdleTime

// drain stops accepting connections and marks the next response on each open one as its last. It returns when all connections are closed,
// after DrainTime, or when ctx ends; a second call returns at once. http.Server.Shutdown would close idle connections immediately, and drop
// new ones even if a request is on its way. The listener is closed first, so that a client told to reconnect does not reach it again.
func (s *webServer) drain(ctx context.Context) { s.drained.Do(func() { s.drainOnce(ctx) }) }

// drainOnce does the work of drain.
func (s *webServer) drainOnce(ctx context.Context) {
	s.stopListening()
	s.entrance.End()
	deadline := time.NewTimer(DrainTime)
	defer deadline.Stop()
	ticker := time.NewTicker(drainPollInterval)
	defer ticker.Stop()
	for s.listener.connections() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-deadline.C:
			return
		case <-ticker.C:
		}
	}
}

// stopListening closes the listener, and returns once no more connections are accepted.
func (s *webServer) stopListening() {
	if s.ending.end() {
		select {
		case <-s.served:
		case <-time.After(stalledClientTime): // net/http pauses after a failed Accept.
		}
	}
	_ = s.listener.Close() // The listener may already be closed.
	<-s.served
}
