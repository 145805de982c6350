package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/shop/load"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/stage/redisserver"
	"lockstep/internal/watch/witness"
)

// Stage is a shop of a lab's own, for one run: a Redis, replicas, proxies between them, and a witness of all. Once something failed, its
// methods do nothing more.
type Stage struct {
	Redis  Redis   // what it does to it
	record *record // of a job

	ctx       context.Context //nolint:containedctx // a stage is a stretch of time, and a scenario reads better without it
	err       error
	endings   []func() error                 // of what was begun, in that order
	onNodes   bool                           // the lock is on the nodes
	inLine    bool                           // the sales of a replica wait in a queue of its own
	masters   []master                       // the Redis with the stock, and then the nodes, if the lock is on them
	spare     *redisserver.Server            // the replica of the first, if it has one
	proxies   map[string][]*redisproxy.Proxy // of a replica: to each of the masters
	replicas  Replicas
	addresses map[string]string // of the replicas, as they were at first
	collected *witness.Collector
	client    *http.Client

	running   sync.WaitGroup // buyers, and those who watch
	purchases []*Purchase
	bought    map[string]int // purchases, by replica
}

// setUp starts all of it; or it fails, and nothing is left.
func setUp(ctx context.Context, shop Settings, place Place, lock string, kind Kind) (_ *Stage, err error) {
	s := &Stage{
		proxies: map[string][]*redisproxy.Proxy{}, replicas: place.Replicas(), bought: map[string]int{},
		collected: witness.NewCollector(), client: &http.Client{Transport: &http.Transport{DialContext: load.Dialer()}},
	}
	s.Redis.stage = s
	defer func() {
		if err != nil {
			err = errors.Join(err, s.tearDown())
		}
	}()
	row, err := evolution.Find(lock)
	if err != nil {
		return nil, err
	}
	s.onNodes, s.inLine = row.OnNodes, row.Capabilities.InLine || row.Scope == strategy.Process
	if err := s.openRedis(ctx, place, kind, shop); err != nil {
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
	if s.addresses, err = s.replicas.Start(ctx, replicas, startCommands(s.proxies, lock, shop)); err != nil {
		return nil, err
	}
	return s, s.watch(ctx, shop.Job)
}

// openProxies puts proxies before each replica.
func (s *Stage) openProxies(replicas int) error {
	for i := range replicas {
		name := fmt.Sprintf("r%d", i+1) // as cluster calls them
		for _, master := range s.masters {
			proxy, err := redisproxy.Open(master.addr)
			if err != nil {
				return err
			}
			s.atEnd(proxy.Close)
			s.proxies[name] = append(s.proxies[name], proxy)
		}
	}
	return nil
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

// atEnd has something done when the stage comes down, before what was begun earlier is ended.
func (s *Stage) atEnd(end func() error) { s.endings = append(s.endings, end) }

// tearDown ends everything, and gives what could not be ended.
func (s *Stage) tearDown() (err error) {
	for _, end := range slices.Backward(s.endings) {
		err = errors.Join(err, end())
	}
	return err
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
