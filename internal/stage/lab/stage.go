package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"lockstep/internal/lock/evolution"
	"lockstep/internal/shop/cluster"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/stage/replica"
	"lockstep/internal/watch/witness"
)

// grace is how long a replica may take to end: what it leaves unfinished is on a Redis that ends, too.
const grace = 300 * time.Millisecond

// Stage is a shop of a lab's own, for one run: a Redis, replicas, proxies between them, and a witness of all. Once something failed, its
// methods do nothing more.
type Stage struct {
	ctx       context.Context //nolint:containedctx // a stage is a stretch of time, and a scenario reads better without it
	err       error
	dir       string
	redis     redisOf
	onNodes   bool                           // the lock is on the nodes
	proxies   map[string][]*redisproxy.Proxy // of a replica: to the Redis with the stock, and to the nodes
	cluster   *cluster.Cluster
	replicas  map[string]cluster.ReplicaAnswer // as they were at first
	stopped   map[string]bool
	collected *witness.Collector
	record    *record // of a job
	client    *http.Client
	said      replica.Said // by the replicas

	leave     context.CancelFunc // for the watchers
	following sync.WaitGroup
	buying    sync.WaitGroup
	purchases []*Purchase
	bought    map[string]int // purchases, by replica
}

// setUp starts all of it; or it fails, and nothing is left.
func setUp(ctx context.Context, shop Settings, program, lock string, kind Kind) (_ *Stage, err error) {
	s := &Stage{
		ctx: ctx, proxies: map[string][]*redisproxy.Proxy{},
		replicas: map[string]cluster.ReplicaAnswer{}, stopped: map[string]bool{}, bought: map[string]int{},
		collected: witness.NewCollector(), client: &http.Client{Transport: &http.Transport{}}, leave: func() {},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.tearDown())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "lockstep-lab-"); err != nil {
		return nil, err
	}
	strategy, err := evolution.Find(lock)
	if err != nil {
		return nil, err
	}
	s.onNodes = strategy.OnNodes
	if s.redis, err = openRedis(ctx, kind, s.dir, shop, s.onNodes); err != nil {
		return nil, err
	}
	if err := s.openProxies(shop); err != nil {
		return nil, err
	}
	s.cluster, err = cluster.Start(ctx, shop.Replicas, s.commands(program, lock, shop), grace, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, &s.said)
	}
	return s, s.watch(ctx, shop)
}

// watch begins to collect what happens.
func (s *Stage) watch(ctx context.Context, shop Settings) (err error) {
	watching, leave := context.WithCancel(ctx)
	s.leave = leave
	for _, answer := range s.cluster.Replicas() {
		s.replicas[answer.Name] = answer
		if shop.Job == nil {
			s.follow(watching, answer)
		}
	}
	if shop.Job != nil {
		s.record, err = openRecord(ctx, *shop.Job, s.redis.Addr())
	}
	return err
}

// follow collects what a replica notes, until it dies: the process that is started in its place is none of the lab's.
func (s *Stage) follow(ctx context.Context, from cluster.ReplicaAnswer) {
	s.following.Go(func() {
		_, _ = witness.Follow(ctx, s.client, "http://"+from.Address+"/events", "", s.collected.Collect) // it ends with the replica
	})
}

// tearDown ends everything, and gives what could not be ended.
func (s *Stage) tearDown() error {
	for name := range s.stopped {
		_ = replica.GoOn(s.replicas[name].PID) // it may have been killed
	}
	if s.cluster != nil {
		s.cluster.Stop()
	}
	s.leave()
	s.following.Wait()
	for _, p := range s.purchases {
		p.Leave()
	}
	s.buying.Wait()
	s.client.CloseIdleConnections()
	var errs []error
	if s.record != nil {
		errs = append(errs, s.record.close())
	}
	errs = append(errs, s.closeProxies(), s.redis.close())
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// Until waits until a condition is met.
func (s *Stage) Until(what string, condition Condition) {
	s.do(what, func() error { return s.collected.Until(s.ctx, condition) })
}

// do does something, unless something has failed before.
func (s *Stage) do(what string, do func() error) {
	if s.err != nil {
		return
	}
	if err := do(); err != nil {
		s.err = fmt.Errorf("%s: %w", what, err)
	}
}

// await waits until something is done. It fails if the stage ends before.
func (s *Stage) await(done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}
