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

// Patience is how long the front waits for replicas that do not answer. Zero means the default in the comment.
type Patience struct {
	Ask    time.Duration // between two health checks of a replica: 250 ms
	Hung   time.Duration // without any answer, until a replica gets no more requests: 1 s
	GiveUp time.Duration // after that, still without an answer, until the requests that it holds are answered 502: 4 s
}

func (p Patience) orDefault() Patience {
	return Patience{
		Ask:    cmp.Or(p.Ask, 250*time.Millisecond),
		Hung:   cmp.Or(p.Hung, time.Second),
		GiveUp: cmp.Or(p.GiveUp, 4*time.Second),
	}
}

// Watch checks regularly whether every replica answers, until ctx ends.
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
				address, _, _ := replica.reach()
				if address == "" {
					continue // it is being started again
				}
				err := get(ctx, client, address, "/healthz", nil)
				switch {
				case err == nil:
					replica.markHeard()
				case ctx.Err() == nil && isLate(err):
					replica.missed(patience)
				}
			}
		})
	}
	watched.Wait()
}

// outOfFiles reports whether the replica is not to blame: this process, or this machine, can open no more connections.
func outOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// isLate reports whether a replica has not answered in time. A replica that refuses connections is ending, which is not late; neither is
// a failure of this process to open a connection.
func isLate(err error) bool {
	var failed net.Error
	return errors.As(err, &failed) && failed.Timeout()
}

// markHeard records that the replica has answered something.
func (r *Replica) markHeard() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = time.Now()
	if r.state == Hung {
		r.log.Info("replica answers again")
		r.state = Up
		if r.trust.Err() != nil {
			r.trust, r.giveUp = context.WithCancel(context.Background())
		}
	}
}

// missed notes that it has not answered when it was asked. It is given up some time after that was first found out, not after its
// last answer: if this process itself was stopped meanwhile, it has a chance yet.
func (r *Replica) missed(patience Patience) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	switch {
	case r.state == Up && now.Sub(r.heard) >= patience.Hung:
		r.log.Warn("replica hangs: it gets no more requests until it answers", "pid", r.pid)
		r.state, r.hungSince = Hung, now
	case r.state == Hung && now.Sub(r.hungSince) >= patience.GiveUp && r.trust.Err() == nil:
		r.log.Error("replica still hangs: the requests that it holds are answered 502", "pid", r.pid, "requests", r.held.Load())
		r.giveUp()
	}
}
