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

// Settings are those of the shop that a lab needs.
type Settings struct {
	Replicas int                      // 0: two
	TTL      time.Duration            // lock.ttl; 0: a minute, which no lab lasts
	Wait     time.Duration            // lock.wait_timeout; 0: ten seconds
	Nested   int                      // sale.nested
	Think    map[string]time.Duration // sale.think_time, by replica
	Ahead    map[string]time.Duration // server.clock_offset, by replica

	Replicated bool // Redis has a replica, which can take its place
	Durable    bool // a real Redis writes down what it does before it answers
	Job        *Job // the replicas run it, and sell nothing
}

const (
	stock = 200     // more than any lab sells
	serve = "serve" // the command of a replica that sells
)

// each gives the same setting to some replicas.
func each(d time.Duration, replicas ...string) map[string]time.Duration {
	all := map[string]time.Duration{}
	for _, name := range replicas {
		all[name] = d
	}
	return all
}

// Stage is a shop of a lab's own, for one run: a Redis, replicas, proxies between them, and a witness of all. Once something failed, its
// methods do nothing more.
type Stage struct {
	ctx context.Context //nolint:containedctx // a stage is a stretch of time, and a scenario reads better without it
	err error
	servers
	inLine    bool // the sales of a replica wait in a queue of its own
	tells     bool // a sale that has lost its lock is told
	replicas  Replicas
	addresses map[string]string // of the replicas, as they were at first
	collected *witness.Collector
	record    *record // of a job
	client    *http.Client

	running   sync.WaitGroup // buyers, and those who watch
	purchases []*Purchase
	bought    map[string]int // purchases, by replica
}

// openStage starts all of it; or it fails, and nothing is left.
func openStage(ctx context.Context, shop Settings, env Environment, lock string, kind Kind) (_ *Stage, err error) {
	s := &Stage{
		servers: servers{proxies: map[string][]*fault.Proxy{}}, replicas: env.Replicas(), bought: map[string]int{},
		collected: witness.NewCollector(), client: &http.Client{Transport: &http.Transport{DialContext: load.Dialer()}},
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
	s.onNodes, s.inLine = row.OnNodes, row.Capabilities.InLine || row.Scope == strategy.Process
	s.tells = row.Capabilities.Renewed
	if err := s.openRedis(ctx, env, kind, shop); err != nil {
		return nil, err
	}
	if err := s.fits(ctx, row); err != nil {
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

// watch begins to collect what happens: by the streams of the replicas until they die, since the process that is started in the place of
// one is none of the lab's. What replicas of a job did is in its record.
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
			_, _ = witness.Follow(s.ctx, s.client, "http://"+address+"/events", "", s.collected.Collect) // it ends with the replica
		})
	}
	return nil
}

// Until waits until a condition is met.
func (s *Stage) Until(step language.Text, condition Condition) {
	s.do(step, func() error { return s.collected.WaitUntil(s.ctx, condition) })
}

// do does something, unless something has failed before.
func (s *Stage) do(step language.Text, do func() error) {
	if s.err != nil {
		return
	}
	if err := do(); err != nil {
		s.err = &failure{step, err}
	}
}

// retryInterval is the pause between two attempts, and between two questions to somebody who does not know yet.
const retryInterval = 20 * time.Millisecond

// retry does something again and again until it succeeds.
func (s *Stage) retry(step language.Text, do func() error) {
	for s.err == nil && do() != nil {
		select {
		case <-time.After(retryInterval):
		case <-s.ctx.Done():
			s.err = &failure{step, context.Cause(s.ctx)}
		}
	}
}

// await waits until something is done. It fails if ctx ends before.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
