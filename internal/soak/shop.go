package soak

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"lockstep/internal/api"
	"lockstep/internal/api/route"
	"lockstep/internal/cluster"
	"lockstep/internal/fault"
	"lockstep/internal/load"
	"lockstep/internal/lock"
	"lockstep/internal/service"
)

const (
	patience    = 30 * time.Second // for the shop to have all its replicas up, and for sales in flight to end
	lookAgain   = 50 * time.Millisecond
	askPatience = 5 * time.Second // for one answer to a question
	grace       = 2 * time.Second // for a replica to end: it has no sales in flight then
)

// open starts the shop. What was started is among the endings, also if it fails.
func (w *world) open(ctx context.Context) (err error) {
	w.redis, err = fault.StartRedis(ctx, w.Redis, "", "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--maxclients", "4000")
	if err != nil {
		return err
	}
	w.endings = append(w.endings, w.redis.Close)
	for range w.Replicas {
		proxy, err := fault.OpenProxy(w.redis.Addr())
		if err != nil {
			return err
		}
		w.proxies = append(w.proxies, proxy)
		w.endings = append(w.endings, proxy.Close)
	}
	if w.cluster, err = cluster.StartIsolated(ctx, w.Program, w.Replicas, w.command, grace); err != nil {
		return err
	}
	w.endings = append(w.endings, w.cluster.Close)
	return w.serve()
}

// command returns the command that starts a replica, with its settings.
func (w *world) command(name string) []string {
	var index int
	_, _ = fmt.Sscanf(name, "r%d", &index) // cluster names them so, from r1 on
	return []string{
		"serve", "--behind-front", "--server.addr=" + fault.AnyPort, "--redis.addrs=" + w.proxies[index-1].Addr(),
		"--lock.version=" + w.Lock, "--lock.ttl=" + expiry.String(), "--lock.wait_timeout=" + waitTimeout.String(),
		"--sale.think_time=" + thinkTime.String(), fmt.Sprintf("--inventory.initial=%d", initialStock),
		fmt.Sprintf("--inventory.max_orders=%d", maxOrders),
	}
}

// serve lets buyers in.
func (w *world) serve() error {
	listener, err := net.Listen("tcp", fault.AnyPort)
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	front := &cluster.Front{
		Cluster: w.cluster.Cluster, NewID: uuid.NewString, Log: log, Transport: cluster.NewTransport(),
	}
	routes := front.PassOn((&api.API{}).Routes()) // nobody watches
	w.url = "http://" + listener.Addr().String()
	server := &http.Server{
		Handler: &api.Entrance{Next: route.Mux(routes...), Log: log}, ReadHeaderTimeout: askPatience,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError),
	}
	watching, leave := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { front.Watch(watching) })
	running.Go(func() { _ = server.Serve(listener) }) // until it is closed
	w.endings = append(w.endings, func() error {
		defer front.CloseIdleConnections()
		defer running.Wait()
		leave()
		return server.Close()
	})
	return nil
}

// settled waits until every replica is up, and returns them.
func (w *world) settled(ctx context.Context) (all []cluster.ReplicaAnswer, err error) {
	err = try(ctx, fmt.Errorf("the replicas are not all up after %v", patience), func() error {
		all = w.cluster.Replicas()
		if slices.ContainsFunc(all, func(r cluster.ReplicaAnswer) bool { return r.State != cluster.Up || r.PID == 0 }) {
			return fmt.Errorf("%v", all)
		}
		return nil
	})
	return all, err
}

// newRun asks for a new run, until there is one; it returns when it asked for the last time.
func (w *world) newRun(ctx context.Context) (asked time.Time, err error) {
	err = try(ctx, fmt.Errorf("no new run after %v", patience), func() error {
		asked = time.Now()
		_, err := w.send(ctx, patience, http.MethodPut, "/inventory", fmt.Sprintf(`{"stock":%d}`, initialStock))
		return err
	})
	return asked, err
}

// try does something again and again until it succeeds. If it does not for too long, or ctx ends, that is the first error, and the last one
// of what it did the second.
func try(ctx context.Context, tooLong error, do func() error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, tooLong)
	defer cancel()
	for {
		err := do()
		if err == nil {
			return nil
		}
		if wait(ctx, lookAgain) != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

func (w *world) lookUp(ctx context.Context, id string) Doubt {
	answer, err := w.send(ctx, askPatience, http.MethodGet, "/orders/"+id, "")
	switch {
	case err == nil:
		return Doubt{OrderID: id, Found: true}
	case answer.Status == http.StatusNotFound && answer.Error.Code == lock.CodeOf(service.ErrNoOrder):
		return Doubt{OrderID: id}
	default:
		return Doubt{OrderID: id, Error: err.Error()}
	}
}

// send sends a request. It fails unless it is answered 200.
func (w *world) send(ctx context.Context, patience time.Duration, method, path, body string) (load.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := load.Ask(ctx, w.asker, method, w.url+path, body)
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %s", method, path, answer.Status, answer.Error.Code)
	}
	return answer, err
}
