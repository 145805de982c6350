package cluster

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// Patience configures how long the front waits for replicas that do not answer. Zero fields mean the defaults in their comments.
type Patience struct {
	Ask    time.Duration // interval between health checks of a replica; default 250 ms
	Hung   time.Duration // time without an answer after which a replica gets no more requests; default 1 s
	GiveUp time.Duration // further time without an answer after which its pending requests are answered 502; default 4 s
}

// orDefault returns p with its zero fields replaced by the defaults.
func (p Patience) orDefault() Patience {
	return Patience{
		Ask:    cmp.Or(p.Ask, 250*time.Millisecond),
		Hung:   cmp.Or(p.Hung, time.Second),
		GiveUp: cmp.Or(p.GiveUp, 4*time.Second),
	}
}

// Watch checks the health of every replica at regular intervals, until ctx ends.
func (f *Front) Watch(ctx context.Context) {
	patience := f.Patience.orDefault()
	transport := &http.Transport{IdleConnTimeout: IdleTime}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: patience.Hung}
	var watched sync.WaitGroup
	for _, replica := range f.Cluster.replicas {
		watched.Go(func() {
			ask := time.NewTicker(patience.Ask)
			defer ask.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-ask.C:
				}
				address, _, _ := replica.endpoint()
				if address == "" {
					continue // The replica is being restarted.
				}
				err := get(ctx, client, address, "/healthz", nil)
				switch {
				case err == nil:
					replica.markAnswered()
				case ctx.Err() == nil && isTimeout(err):
					replica.markMissed(patience)
				}
			}
		})
	}
	watched.Wait()
}

// isOutOfFiles reports whether a connection failed because this process, or the machine, can open no more files. The replica is not to
// blame.
func isOutOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// isTimeout reports whether a replica did not answer in time. A refused connection is not a timeout: the replica is shutting down. Nor is a
// failure of this process to open a connection.
func isTimeout(err error) bool {
	var netErr net.Error
	return errors.As(err, &netErr) && netErr.Timeout()
}

// markAnswered records that the replica has answered. If it was hung, it is up again.
func (r *Replica) markAnswered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastAnswer = time.Now()
	if r.state == Hung {
		r.log.Info("replica answers again")
		r.state = Up
		if r.alive.Err() != nil {
			r.alive, r.giveUp = context.WithCancel(context.Background())
		}
	}
}

// markMissed records that a health check got no answer. The time until the replica is given up runs from when it was found hung, not from
// its last answer: if this process was paused meanwhile, the replica must get another chance.
func (r *Replica) markMissed(patience Patience) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	switch {
	case r.state == Up && now.Sub(r.lastAnswer) >= patience.Hung:
		r.log.Warn("replica hangs; it gets no more requests until it answers", "pid", r.pid)
		r.state, r.hungSince = Hung, now
	case r.state == Hung && now.Sub(r.hungSince) >= patience.GiveUp && r.alive.Err() == nil:
		r.log.Error("replica still hangs; its pending requests are answered with 502", "pid", r.pid, "requests", r.pendingRequests.Load())
		r.giveUp()
	}
}
