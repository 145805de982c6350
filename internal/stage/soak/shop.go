package soak

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"lockstep/internal/shop/api"
	"lockstep/internal/shop/cluster"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/stage/redisserver"
	"lockstep/internal/stage/replica"
)

const (
	patience    = 30 * time.Second // for the shop to have all its replicas up, and for sales in flight to end
	lookAgain   = 50 * time.Millisecond
	askPatience = 5 * time.Second // for one answer to a question
	grace       = 2 * time.Second // for a replica to end: it has no sales in flight then
)

// shop is a Redis, replicas as processes with a proxy before each, and their front, which is in this process.
type shop struct {
	url     string
	client  *http.Client
	dir     string
	redis   *redisserver.Server
	proxies []*redisproxy.Proxy // one for each replica
	cluster *cluster.Cluster
	said    replica.Said // of the replicas
	front   *http.Server
	endings []func() // of what runs, the last one first
}

// open starts all of it; or it fails, and nothing is left.
func (s Session) open(ctx context.Context) (_ *shop, err error) {
	shop := &shop{client: &http.Client{Transport: &http.Transport{}}}
	defer func() {
		if err != nil {
			err = errors.Join(err, shop.close())
		}
	}()
	if shop.dir, err = os.MkdirTemp("", "lockstep-soak-"); err != nil {
		return nil, err
	}
	if err := os.Mkdir(shop.data(), 0o700); err != nil {
		return nil, err
	}
	shop.redis, err = redisserver.Start(ctx, s.Redis, shop.data(),
		"--save", "", "--appendonly", "yes", "--appendfsync", "always", "--maxclients", "4000")
	if err != nil {
		return nil, err
	}
	for range s.Replicas {
		proxy, err := redisproxy.Open(shop.redis.Addr())
		if err != nil {
			return nil, err
		}
		shop.proxies = append(shop.proxies, proxy)
	}
	shop.cluster, err = cluster.Start(ctx, s.Replicas, shop.commands(s), grace, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, &shop.said)
	}
	return shop, shop.serve()
}

// commands gives the commands that start the replicas: servers of this very program, with no other settings than the soak's.
func (s *shop) commands(session Session) func(name string) *exec.Cmd {
	return func(name string) *exec.Cmd {
		var index int
		_, _ = fmt.Sscanf(name, "r%d", &index) // cluster names them so, from r1 on
		return replica.Command(session.Program, "serve", name, s.dir, &s.said, "--behind-front",
			"--server.addr="+replica.AnyPort, "--redis.addrs="+s.proxies[index-1].Addr(),
			"--lock.version="+session.Lock, "--lock.ttl="+Expiry.String(), "--lock.wait_timeout="+waitTimeout.String(),
			"--sale.think_time="+thinkTime.String(), fmt.Sprintf("--inventory.initial=%d", initialStock),
			fmt.Sprintf("--inventory.max_orders=%d", maxOrders))
	}
}

// serve lets buyers in.
func (s *shop) serve() error {
	listener, err := net.Listen("tcp", replica.AnyPort)
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	front := &cluster.Front{Cluster: s.cluster, NewID: uuid.NewString, Guard: api.Guard{Open: true}, Log: log}
	s.url = "http://" + listener.Addr().String()
	s.front = &http.Server{
		Handler: &api.Entrance{Next: front.Handler(), Log: log}, ReadHeaderTimeout: askPatience,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError),
	}
	watching, leave := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { front.Watch(watching) })
	running.Go(func() { _ = s.front.Serve(listener) }) // until it is closed
	s.endings = append(s.endings, func() {
		leave()
		_ = s.front.Close()
		running.Wait()
	})
	return nil
}

// data is where Redis keeps its files.
func (s *shop) data() string { return filepath.Join(s.dir, "redis") }

// close ends all of it, and removes its files.
func (s *shop) close() error {
	s.client.CloseIdleConnections()
	if s.cluster != nil {
		s.cluster.Stop()
	}
	for _, end := range slices.Backward(s.endings) {
		end()
	}
	var errs []error
	for _, proxy := range s.proxies {
		errs = append(errs, proxy.Close())
	}
	if s.redis != nil {
		s.redis.Kill()
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// settled waits until every replica is up, and gives them.
func (s *shop) settled(ctx context.Context) ([]cluster.ReplicaAnswer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the replicas are not all up after %v", patience))
	defer cancel()
	for {
		all := s.cluster.Replicas()
		if !slices.ContainsFunc(all, func(r cluster.ReplicaAnswer) bool { return r.State != cluster.Up || r.PID == 0 }) {
			return all, nil
		}
		if wait(ctx, lookAgain) != nil {
			return nil, fmt.Errorf("%w: %v", context.Cause(ctx), all)
		}
	}
}

// newRun asks for a new run, until there is one; it gives when it asked for the last time.
func (s *shop) newRun(ctx context.Context) (asked time.Time, err error) {
	for began := time.Now(); time.Since(began) < patience; {
		asked = time.Now()
		if _, err = s.ask(ctx, patience, http.MethodPut, "/inventory", fmt.Sprintf(`{"stock":%d}`, initialStock)); err == nil {
			return asked, nil
		}
		if wait(ctx, lookAgain) != nil {
			break
		}
	}
	return asked, fmt.Errorf("a new run: %w", err)
}

// lookUp asks whether an order is in the ledger.
func (s *shop) lookUp(ctx context.Context, id string) Doubt {
	answer, err := s.ask(ctx, askPatience, http.MethodGet, "/orders/"+id, "")
	switch {
	case err == nil:
		return Doubt{OrderID: id, Found: true}
	case answer.Status == http.StatusNotFound && answer.Error.Code == "no_order":
		return Doubt{OrderID: id}
	default:
		return Doubt{OrderID: id, Error: err.Error()}
	}
}

// ask sends a request. It fails unless it is answered 200.
func (s *shop) ask(ctx context.Context, patience time.Duration, method, path, body string) (replica.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := replica.Ask(ctx, s.client, method, s.url+path, body)
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %s", method, path, answer.Status, answer.Error.Code)
	}
	return answer, err
}
