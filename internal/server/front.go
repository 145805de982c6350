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

// The flags of the command serve that are for the replicas of a cluster.
const (
	UntilStdinFlag  = "until-stdin-ends"
	BehindFrontFlag = "behind-front"
)

// Replicas are what a cluster is told beside its configuration.
type Replicas struct {
	N      int
	Given  []string  // the flags given to this process, which its replicas get, too
	Stderr io.Writer // of the replicas

	Program string // see Options
	Log     *slog.Logger
	Ready   func(firstLine string) // is told once the replicas and the front answer
}

// ServeCluster serves by several replicas, as processes behind one front, until ctx ends, and then until the sales in flight have ended.
func ServeCluster(ctx context.Context, cfg config.Config, r Replicas) error {
	listener, redis, err := listen(ctx, cfg)
	if err != nil {
		return err
	}
	guard := newGuard(cfg, listener.Addr())
	processes, err := r.start(ctx, behind(guard, cfg), redis)
	if err != nil {
		return errors.Join(err, listener.Close(), redis.Close())
	}
	warnOf(guard, listener.Addr(), r.Log)
	warnOfEviction(ctx, redis, r.Log)
	room := load.OwnCapacity().OfFront(r.N)
	front := &cluster.Front{
		Cluster: processes, NewID: uuid.NewString, Log: r.Log, Ending: make(chan struct{}), Transport: cluster.NewTransport(),
	}
	rooms := newRooms(cfg, guard, listener.Addr(), redis, cluster.Watched{Front: front}, r.Program, false)
	rooms.shop, rooms.events, rooms.front = &api.API{}, front.ServeEvents, front
	rooms.shown.Streams = &api.Streams{Most: room.Streams, Share: room.Streams / 2}
	rooms.shown.Hub.Controls.Replicas = []string{"pause", "resume", "kill"}
	processes.Tell(rooms.shown.Hub.Note)
	end := func() { close(front.Ending); front.CloseIdleConnections() }
	web := newWebServer(api.NewHandler(guard, front.PassOn(rooms.routes())), "", r.Log, room, append(rooms.closers(), end)...)
	r.Ready(fmt.Sprintf("lockstep: %s · %d replicas · lock %s · %s%s",
		where(listener.Addr().String()), r.N, cfg.Settings.Lock, redisOf(redis, cfg.Settings.Lock), buyersOf(room)))
	err = r.serve(ctx, listener, web, front)
	rooms.shown.Close()
	return errors.Join(err, redis.Close())
}

// serve serves by a front until ctx ends, then stops its replicas.
func (r Replicas) serve(ctx context.Context, listener net.Listener, web *webServer, front *cluster.Front) (err error) {
	failed := web.start(listener)
	watching, endWatching := context.WithCancel(context.WithoutCancel(ctx))
	var watched, answered sync.WaitGroup
	watched.Go(func() { front.Watch(watching) })
	select {
	case <-ctx.Done():
		r.Log.Info("ending: waiting for the sales in flight")
	case err = <-failed:
	}
	all, cancel := context.WithCancel(context.Background())
	web.drain(all)                                // replicas end when there are no more requests
	answered.Go(func() { _ = web.shutdown(all) }) // passes on the answers to those that it has
	front.Cluster.Stop()                          // the front still watches: it does not wait for replicas that hang
	endWatching()
	watched.Wait()
	time.AfterFunc(LeaveTime, cancel) // some time after every replica has ended there is nothing left to pass on
	answered.Wait()
	cancel()
	return err
}

// start starts servers of this very program with its configuration, except for their addresses, their names, and the embedded Redis, which
// is this process's.
func (r Replicas) start(ctx context.Context, cfg config.Config, redis *dao.Redis) (*cluster.Cluster, error) {
	replica, err := cluster.Command(cfg, redis.Addr, redis.Nodes.Addrs(), r.Given, []string{
		"serve", "--" + UntilStdinFlag, "--" + BehindFrontFlag, "--server.addr=127.0.0.1:0",
		"--server.hosts=" + strings.Join(cfg.Server.Hosts, ","),
		"--admin.open=" + strconv.FormatBool(cfg.Admin.Open),
	}, nil, r.Stderr)
	if err != nil {
		return nil, err
	}
	return cluster.Start(ctx, r.N, replica, cfg.Settings.LongestSale()+4*LeaveTime, r.Log) // for what comes after the sales
}
