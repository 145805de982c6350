package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"lockstep/internal/api"
	"lockstep/internal/cluster"
	"lockstep/internal/config"
	"lockstep/internal/dao"
	"lockstep/internal/load"
)

// Flags of the command serve that only a cluster's replicas receive.
const (
	UntilStdinFlag  = "until-stdin-ends"
	BehindFrontFlag = "behind-front"
)

// ClusterOptions configures ServeCluster beyond the configuration file.
type ClusterOptions struct {
	N              int       // number of replicas
	ForwardedFlags []string  // command-line flags of this process, forwarded to each replica
	Stderr         io.Writer // standard error of the replicas

	Program string // program for labs; see Options
	Log     *slog.Logger
	Ready   func(firstLine string) // called once the replicas and the reverse proxy answer
}

// ServeCluster runs several replicas as processes behind one reverse proxy until ctx ends and the sales in flight have ended.
func ServeCluster(ctx context.Context, cfg config.Config, r ClusterOptions) error {
	listener, redis, err := listen(ctx, cfg)
	if err != nil {
		return err
	}
	guard := newGuard(cfg, listener.Addr())
	processes, err := r.start(ctx, replicaConfig(guard, cfg), redis)
	if err != nil {
		return errors.Join(err, listener.Close(), redis.Close())
	}
	warnOfAccess(guard, listener.Addr(), r.Log)
	warnOfEviction(ctx, redis, r.Log)
	capacity := load.OwnCapacity().ForFront(r.N)
	front := &cluster.Front{
		Cluster: processes, NewID: uuid.NewString, Log: r.Log, Ending: make(chan struct{}), Transport: cluster.NewTransport(),
	}
	parts := newParts(cfg, guard, listener.Addr(), redis, cluster.LiveShop{Front: front}, r.Program, false)
	parts.shop, parts.events, parts.front = &api.API{}, front.ServeEvents, front
	parts.shown.Streams = &api.Streams{Max: capacity.Streams, MaxPerClient: capacity.Streams / 2}
	parts.shown.Hub.Controls.Replicas = []string{"pause", "resume", "kill"}
	processes.OnEvent(parts.shown.Hub.Note)
	end := func() { close(front.Ending); front.CloseIdleConnections() }
	web := newWebServer(api.NewHandler(guard, front.PassOn(parts.routes())), "", r.Log, capacity, append(parts.closers(), end)...)
	r.Ready(fmt.Sprintf("lockstep: %s · %d replicas · lock %s · %s%s",
		displayURL(listener.Addr().String()), r.N, cfg.Settings.Lock, describeRedis(redis, cfg.Settings.Lock), describeCapacity(capacity)))
	err = r.serve(ctx, listener, web, front)
	parts.shown.Close()
	return errors.Join(err, redis.Close())
}

// serve runs the reverse proxy until ctx ends, then stops its replicas.
func (r ClusterOptions) serve(ctx context.Context, listener net.Listener, web *webServer, front *cluster.Front) (err error) {
	serveErr := web.start(listener)
	watching, endWatching := context.WithCancel(context.WithoutCancel(ctx))
	var watched, answered sync.WaitGroup
	watched.Go(func() { front.Watch(watching) })
	select {
	case <-ctx.Done():
		r.Log.Info("ending: waiting for the sales in flight")
	case err = <-serveErr:
	}
	all, cancel := context.WithCancel(context.Background())
	web.drain(all)                                // Replicas end when there are no more requests.
	answered.Go(func() { _ = web.shutdown(all) }) // Forwards the answers to requests in progress.
	front.Cluster.Stop()                          // The proxy still watches its replicas, so it does not wait for one that hangs.
	endWatching()
	watched.Wait()
	time.AfterFunc(LeaveTime, cancel) // By then, no answer of an ended replica is left to forward.
	answered.Wait()
	cancel()
	return err
}

// shutdownSteps is the number of shutdown steps of a replica after its longest sale. Each gets LeaveTime: cancelled sales end, the last
// heartbeat ends, the lock is closed and the heartbeat deleted, and the connections are closed.
const shutdownSteps = 4

// start runs the replicas: processes of this program with its configuration, except for their addresses and names. They share this
// process's embedded Redis.
func (r ClusterOptions) start(ctx context.Context, cfg config.Config, redis *dao.Redis) (*cluster.Cluster, error) {
	replica, err := cluster.Command(cfg, redis.Addr, redis.Nodes.Addrs(), r.ForwardedFlags, []string{
		"serve", "--" + UntilStdinFlag, "--" + BehindFrontFlag, "--server.addr=127.0.0.1:0",
		"--server.hosts=" + strings.Join(cfg.Server.Hosts, ","),
		"--admin.open=" + strconv.FormatBool(cfg.Admin.Open),
	}, nil, r.Stderr)
	if err != nil {
		return nil, err
	}
	return cluster.Start(ctx, r.N, replica, cfg.Settings.LongestSale()+shutdownSteps*LeaveTime, r.Log)
}
