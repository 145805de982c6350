package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"lockstep/internal/lock/evolution"
	"lockstep/internal/shop/cluster"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// anyPort is any free port of loopback.
const anyPort = "127.0.0.1:0"

// grace is how long a replica may take to end: what it leaves unfinished is on a Redis that ends, too.
const grace = 300 * time.Millisecond

// Stage is a shop of a lab's own, for one run: a Redis, replicas, proxies between them, and a witness of all. Once something failed, its
// methods do nothing more.
type Stage struct {
	ctx       context.Context //nolint:containedctx // a stage is a stretch of time, and a scenario reads better without it
	err       error
	dir       string
	redis     redisOf
	onNodes   bool // the lock is on the nodes
	proxies   map[string]*redisproxy.Proxy
	toNodes   map[string][]*redisproxy.Proxy
	cluster   *cluster.Cluster
	replicas  map[string]cluster.ReplicaAnswer // as they were at first
	stopped   map[string]bool
	collected *witness.Collector
	record    *record // of a job
	client    *http.Client
	said      *safeBuffer // by the replicas

	leave     context.CancelFunc // for the watchers
	following sync.WaitGroup
	buying    sync.WaitGroup
	purchases []*Purchase
}

// setUp starts all of it; or it fails, and nothing is left.
func setUp(ctx context.Context, shop Settings, program, lock string, kind Kind) (_ *Stage, err error) {
	s := &Stage{
		ctx: ctx, proxies: map[string]*redisproxy.Proxy{}, toNodes: map[string][]*redisproxy.Proxy{},
		replicas: map[string]cluster.ReplicaAnswer{}, stopped: map[string]bool{},
		collected: witness.NewCollector(), client: &http.Client{Transport: &http.Transport{}}, said: &safeBuffer{}, leave: func() {},
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
	command := s.commands(program, lock, shop)
	if shop.Job != nil {
		command = shop.Job.replicas(s, program, lock)
	}
	s.cluster, err = cluster.Start(ctx, shop.Replicas, command, grace, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, s.said)
	}
	return s, s.watch(ctx, shop)
}

// watch begins to collect what happens.
func (s *Stage) watch(ctx context.Context, shop Settings) (err error) {
	watching, leave := context.WithCancel(ctx)
	s.leave = leave
	for _, replica := range s.cluster.Replicas() {
		s.replicas[replica.Name] = replica
		if shop.Job == nil {
			s.follow(watching, replica)
		}
	}
	if shop.Job != nil {
		if s.record, err = openRecord(ctx, *shop.Job, s.redis.Addr()); err == nil {
			s.followJob(watching)
		}
	}
	return err
}

// follow collects what a replica notes, until it dies: the process that is started in its place is none of the lab's.
func (s *Stage) follow(ctx context.Context, replica cluster.ReplicaAnswer) {
	s.following.Go(func() {
		_, _ = witness.Follow(ctx, s.client, "http://"+replica.Address+"/events", "", s.collected.Collect) // it ends with the replica
	})
}

// tearDown ends everything, and gives what could not be ended.
func (s *Stage) tearDown() error {
	for replica := range s.stopped {
		_ = goOn(s.replicas[replica].PID) // it may have been killed
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
	errs = append(errs, s.closeProxies())
	if s.redis.close != nil {
		errs = append(errs, s.redis.close())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// Until waits until the witness has seen something.
func (s *Stage) Until(what string, condition func([]witness.Event) bool) {
	if s.err != nil {
		return
	}
	if err := s.collected.Until(s.ctx, condition); err != nil {
		s.err = fmt.Errorf("%s: %w", what, err)
	}
}

// environment is this process's, without settings of a lockstep.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "LOCKSTEP_") })
}

// safeBuffer is a buffer that several processes write to.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
