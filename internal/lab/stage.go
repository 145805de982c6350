package lab

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/fault"
	"lockstep/internal/language"
	"lockstep/internal/load"
	"lockstep/internal/strategy"
	"lockstep/internal/witness"
)

// Settings are the settings of a lab's shop.
type Settings struct {
	Replicas int                      // number of replicas; 0: two
	TTL      time.Duration            // lock.ttl; 0: a minute, which is longer than any lab
	Wait     time.Duration            // lock.wait_timeout; 0: ten seconds
	Nested   int                      // sale.nested; 0: no nested calls
	Think    map[string]time.Duration // sale.think_time, by replica
	Ahead    map[string]time.Duration // server.clock_offset, by replica

	Replicated bool // Redis has a replica that can become the master
	Durable    bool // a real Redis persists each write before it replies
	Job        *Job // scheduled job that the replicas run; nil: they sell
}

const (
	stock = 200     // initial stock: more than any lab sells
	serve = "serve" // the command of a replica that sells
)

// each returns a map with the same duration for each of the replicas.
func each(d time.Duration, replicas ...string) map[string]time.Duration {
	all := map[string]time.Duration{}
	for _, name := range replicas {
		all[name] = d
	}
	return all
}

// Stage is the shop of one run of a lab: a Redis, replicas, proxies between them, and a witness. Once a step has failed, the methods of the
// Stage do nothing.
type Stage struct {
	ctx context.Context //nolint:containedctx // a stage is a stretch of time, and a scenario reads better without it
	err error           // error of the first step that failed; nil: none has failed
	servers
	hasQueue    bool               // sales of a replica wait in a local queue
	noticesLoss bool               // a sale learns that it has lost its lock
	replicas    Replicas           // replicas of the shop
	addresses   map[string]string  // initial addresses, by replica
	collector   *witness.Collector // collects the events of all replicas
	record      *record            // record of the job; nil: the replicas sell
	client      *http.Client       // client of the buyers and of the event streams

	running       sync.WaitGroup // buyers and readers of event streams
	purchases     []*Purchase    // purchases that were sent, oldest first
	purchaseCount map[string]int // number of purchases, by replica
}

// openStage opens a stage. If it fails, it closes what it has started.
func openStage(ctx context.Context, shop Settings, env Environment, lock string, kind Kind) (_ *Stage, err error) {
	s := &Stage{
		servers: servers{proxies: map[string][]*fault.Proxy{}}, replicas: env.NewReplicas(), purchaseCount: map[string]int{},
		collector: witness.NewCollector(), client: &http.Client{Transport: &http.Transport{DialContext: load.Dialer()}},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	row, err := evolution.Find(lock)
	if err != nil {
		return nil, err
	}
	s.onNodes, s.hasQueue = row.OnNodes, row.Capabilities.InLine || row.Scope == strategy.Process
	s.noticesLoss = row.Capabilities.Renewed
	if err := s.openRedis(ctx, env, kind, shop); err != nil {
		return nil, err
	}
	if err := s.checkLock(ctx, row); err != nil {
		return nil, err
	}
	replicas := cmp.Or(shop.Replicas, 2)
	if err := s.openProxies(replicas); err != nil {
		return nil, err
	}
	s.atEnd(s.replicas.End)
	command := func(name string) []string { return s.command(name, lock, shop) }
	if s.addresses, err = s.replicas.Start(ctx, replicas, command); err != nil {
		return nil, err
	}
	return s, s.watch(ctx, shop.Job)
}

// watch begins to collect the events of the replicas from their streams. A stream ends with its replica: a process that replaces the
// replica is not part of the lab. Events of a job's replicas are in the job's record.
func (s *Stage) watch(ctx context.Context, job *Job) (err error) {
	var leave context.CancelFunc
	s.ctx, leave = context.WithCancel(ctx)
	s.atEnd(func() error {
		leave()
		s.running.Wait()
		s.client.CloseIdleConnections()
		return nil
	})
	if job != nil {
		s.record, err = openRecord(s, *job)
		return err
	}
	for _, address := range s.addresses {
		s.running.Go(func() {
			_, _ = witness.Follow(s.ctx, s.client, "http://"+address+"/events", "", s.collector.Collect) // The stream ends with the replica.
		})
	}
	return nil
}

// Await waits until the recorded events meet the condition. step names what is awaited, for errors.
func (s *Stage) Await(step language.Text, condition Condition) {
	s.do(step, func() error { return s.collector.WaitUntil(s.ctx, condition) })
}

// do runs a step, unless an earlier step has failed.
func (s *Stage) do(step language.Text, run func() error) {
	if s.err != nil {
		return
	}
	if err := run(); err != nil {
		s.err = &failure{step, err}
	}
}

// retryInterval is the pause between two attempts of a step.
const retryInterval = 20 * time.Millisecond

// retry repeats a step until it succeeds or the stage ends.
func (s *Stage) retry(step language.Text, run func() error) {
	for s.err == nil && run() != nil {
		select {
		case <-time.After(retryInterval):
		case <-s.ctx.Done():
			s.err = &failure{step, context.Cause(s.ctx)}
		}
	}
}

// await waits until done is closed. It returns the cause of ctx if that ends first.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
