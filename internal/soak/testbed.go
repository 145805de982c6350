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
	settleTimeout = 30 * time.Second      // time limit for all replicas to be up, for a new run, and for sales in flight to end
	retryInterval = 50 * time.Millisecond // pause between two attempts of retry
	answerTimeout = 5 * time.Second       // time limit for an answer to GET /orders/{id}
	shutdownGrace = 2 * time.Second       // time limit for a replica to end, when no sales are in flight
)

// start starts Redis, the proxies, the replicas and the reverse proxy. Even if it fails, closers end what it has started.
func (b *testbed) start(ctx context.Context) (err error) {
	settings := []string{"--save", "", "--appendonly", "yes", "--appendfsync", "always", "--maxclients", "4000"}
	b.redisServer, err = fault.StartRedis(ctx, b.Redis, "", settings...)
	if err != nil {
		return err
	}
	b.closers = append(b.closers, b.redisServer.Close)
	for range b.Replicas {
		proxy, err := fault.OpenProxy(b.redisServer.Addr())
		if err != nil {
			return err
		}
		b.proxies = append(b.proxies, proxy)
		b.closers = append(b.closers, proxy.Close)
	}
	if b.cluster, err = cluster.StartIsolated(ctx, b.Program, b.Replicas, b.command, shutdownGrace); err != nil {
		return err
	}
	b.closers = append(b.closers, b.cluster.Close)
	return b.startFront()
}

// command returns the command that starts a replica, with its settings.
func (b *testbed) command(name string) []string {
	var index int
	_, _ = fmt.Sscanf(name, "r%d", &index) // package cluster names replicas r1, r2, …
	return []string{
		"serve", "--behind-front", "--server.addr=" + fault.AnyPort, "--redis.addrs=" + b.proxies[index-1].Addr(),
		"--lock.version=" + b.Lock, "--lock.ttl=" + expiry.String(), "--lock.wait_timeout=" + waitTimeout.String(),
		"--sale.think_time=" + thinkTime.String(), fmt.Sprintf("--inventory.initial=%d", initialStock),
		fmt.Sprintf("--inventory.max_orders=%d", maxOrders),
	}
}

// startFront starts the reverse proxy, to which buyers send their requests.
func (b *testbed) startFront() error {
	listener, err := net.Listen("tcp", fault.AnyPort)
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	front := &cluster.Front{
		Cluster: b.cluster.Cluster, NewID: uuid.NewString, Log: log, Transport: cluster.NewTransport(),
	}
	routes := front.PassOn((&api.API{}).Routes())
	b.url = "http://" + listener.Addr().String()
	server := &http.Server{
		Handler: &api.Entrance{Next: route.Mux(routes...), Log: log}, ReadHeaderTimeout: answerTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError),
	}
	watching, stopWatching := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { front.Watch(watching) })
	running.Go(func() { _ = server.Serve(listener) }) // returns when the server is closed
	b.closers = append(b.closers, func() error {
		defer front.CloseIdleConnections()
		defer running.Wait()
		stopWatching()
		return server.Close()
	})
	return nil
}

// awaitReplicas waits until all replicas are up, and returns them.
func (b *testbed) awaitReplicas(ctx context.Context) (all []cluster.ReplicaAnswer, err error) {
	err = retry(ctx, fmt.Errorf("not all replicas are up after %v", settleTimeout), func() error {
		all = b.cluster.Replicas()
		if slices.ContainsFunc(all, func(r cluster.ReplicaAnswer) bool { return r.State != cluster.Up || r.PID == 0 }) {
			return fmt.Errorf("%v", all)
		}
		return nil
	})
	return all, err
}

// startRun requests a new run until a request succeeds, and returns the time of that request.
func (b *testbed) startRun(ctx context.Context) (requested time.Time, err error) {
	err = retry(ctx, fmt.Errorf("no new run after %v", settleTimeout), func() error {
		requested = time.Now()
		_, err := b.send(ctx, settleTimeout, http.MethodPut, "/inventory", fmt.Sprintf(`{"stock":%d}`, initialStock))
		return err
	})
	return requested, err
}

// retry calls do until it succeeds. After settleTimeout it returns tooLong together with the last error of do. If ctx ends, it returns the
// cause together with that error.
func retry(ctx context.Context, tooLong error, do func() error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, tooLong)
	defer cancel()
	for {
		err := do()
		if err == nil {
			return nil
		}
		if sleep(ctx, retryInterval) != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// lookUpOrder requests an order by GET /orders/{id}.
func (b *testbed) lookUpOrder(ctx context.Context, id string) OrderLookup {
	answer, err := b.send(ctx, answerTimeout, http.MethodGet, "/orders/"+id, "")
	switch {
	case err == nil:
		return OrderLookup{OrderID: id, Found: true}
	case answer.Status == http.StatusNotFound && answer.Error.Code == lock.CodeOf(service.ErrNoOrder):
		return OrderLookup{OrderID: id}
	default:
		return OrderLookup{OrderID: id, Error: err.Error()}
	}
}

// send sends a request, and fails unless the answer is 200 and comes within timeout.
func (b *testbed) send(ctx context.Context, timeout time.Duration, method, path, body string) (load.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer, err := load.Send(ctx, b.http, method, b.url+path, body)
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %s", method, path, answer.Status, answer.Error.Code)
	}
	return answer, err
}
