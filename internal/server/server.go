// Package server assembles a server: the shop with its Redis and the parts of its page behind one HTTP server, or a cluster's reverse
// proxy. It is the only package that depends on all of these parts. Begin with Serve.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"
	goredis "github.com/redis/go-redis/v9"

	"lockstep/internal/api"
	"lockstep/internal/api/route"
	"lockstep/internal/config"
	"lockstep/internal/dao"
	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/live"
	"lockstep/internal/load"
	"lockstep/internal/lock"
	"lockstep/internal/lockv6"
	"lockstep/internal/metrics"
	"lockstep/internal/service"
	"lockstep/internal/strategy"
	"lockstep/internal/witness"
)

// Settings of the barrier, a renewed lock (v6) that a replica holds while it changes the run. The TTL is how long a replica that dies
// meanwhile can delay the others.
const (
	barrierTTL   = 5 * time.Second
	barrierRetry = 20 * time.Millisecond
	barrierWait  = 2 * time.Minute
)

// LeaveTime limits each shutdown step that communicates with Redis or clients.
const LeaveTime = 5 * time.Second

// Server is a shop with its Redis and its HTTP server. Open returns one.
type Server struct {
	API         *api.API
	Redis       *dao.Redis
	Live        *live.Server
	Witness     *witness.Recorder
	Addr        string
	StopBeating func() // ends the heartbeat, and waits for the last one, so that other replicas consider this one dead

	instance       string // unique id of this process
	web            *webServer
	serveErr       <-chan error // receives the error that ended the HTTP server: http.ErrServerClosed after a shutdown
	cancelSales    context.CancelFunc
	heartbeatEnded chan struct{} // closed when the heartbeat has ended
}

// Open listens, opens the Redis, joins or begins a run, and serves. If it returns an error, nothing is left open. Close ends the server;
// the end of ctx does not.
func Open(ctx context.Context, cfg config.Config, o Options) (*Server, error) {
	listener, redis, err := listen(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s := newServer(cfg, redis, listener.Addr(), o)
	if err := s.API.Shop.Open(ctx, cfg.Settings); err != nil {
		row, _ := evolution.Find(cfg.Settings.Lock) // listen has already found this lock.
		err = redis.ExplainDenial(row, lock.Key, dao.ShopRights(), err)
		return nil, errors.Join(fmt.Errorf("opening the shop: %w", err), listener.Close(), redis.Close())
	}
	warnOfAccess(s.API.Guard, listener.Addr(), s.API.Log)
	if !o.BehindFront { // The reverse proxy has already warned.
		warnOfEviction(ctx, redis, s.API.Log)
	}
	s.serve(ctx, listener)
	return s, nil
}

// listen opens the address of a server or a reverse proxy, and its Redis. It returns an error if the lock cannot run on that Redis.
func listen(ctx context.Context, cfg config.Config) (net.Listener, *dao.Redis, error) {
	listener, err := listenTCP(ctx, cfg.Server.Addr)
	if err != nil {
		return nil, nil, fmt.Errorf("server.addr: cannot listen on %s: %w; choose another with --server.addr", cfg.Server.Addr, err)
	}
	cfg.Redis.EmbeddedClients = load.OwnCapacity().RedisClients
	redis, err := dao.Open(ctx, cfg.Redis)
	if err != nil {
		return nil, nil, errors.Join(err, listener.Close())
	}
	if err := checkLock(ctx, cfg.Settings.Lock, redis); err != nil {
		return nil, nil, errors.Join(err, listener.Close(), redis.Close())
	}
	return listener, redis, nil
}

// newServer returns a server on an open Redis. It sends Redis no command.
func newServer(cfg config.Config, redis *dao.Redis, addr net.Addr, o Options) *Server {
	replica := cmp.Or(cfg.Server.Replica, replicaName())
	log := o.Log.With("replica", replica)
	instance := uuid.NewString()
	store := dao.NewStore(redis.Store, instance, cfg.MaxOrders)
	store.HeartbeatRequests = redis.HeartbeatRequests
	shop := newShop(redis, store)
	shop.Replica, shop.Log = replica, log
	shop.Parts.Clock, shop.Parts.Process = lock.SystemClock{Ahead: cfg.Server.ClockOffset}, instance
	counts := metrics.New(replica, shop.Tally, o.LostLines)
	recorder := witness.NewRecorder(replica, instance, time.Now)
	shop.Observers = service.Observers{counts, recorder}
	for _, hook := range []goredis.Hook{counts.Hook(), recorder.Hook()} {
		redis.Lock.AddHook(hook)
		redis.Store.AddHook(hook)
	}
	for i, node := range redis.Nodes {
		node.AddHook(counts.Hook())
		node.AddHook(recorder.HookOfNode(i+1, len(redis.Nodes)))
	}
	guard := newGuard(cfg, addr)
	guard.Local = guard.Local && !o.BehindFront // The reverse proxy forwards requests after its own check.
	shown := &live.Replica{Name: replica, Recorder: recorder, Shop: shop, Peers: cfg.Server.Peers}
	parts, capacity := newParts(cfg, guard, addr, redis, shown, o.Program, o.BehindFront), load.OwnCapacity()
	parts.shown.Streams = &api.Streams{Max: capacity.Streams, MaxPerClient: capacity.Streams / 2}
	if o.BehindFront { // All streams come from the reverse proxy, which limits them per client.
		parts.shown.Streams.MaxPerClient = 0
	}
	s := &Server{
		API: &api.API{
			Shop: shop, Metrics: counts, NewID: uuid.NewString, BehindFront: o.BehindFront,
			Replica: replica, Redis: redis.Name, Version: redis.Version(), Buyers: capacity.Connections, Nodes: redis.Nodes.Addrs(),
			Log: log, Guard: guard,
			CheckLock: func(ctx context.Context, version string) error { return checkLock(ctx, version, redis) },
		},
		Redis: redis, instance: instance, Live: parts.shown, Witness: recorder,
		Addr:           addr.String(),
		heartbeatEnded: make(chan struct{}),
	}
	parts.shop, parts.events = s.API, route.FromHandler(recorder)
	s.web = newWebServer(api.NewHandler(guard, parts.routes()), replica, log, capacity, append(parts.closers(), recorder.Close)...)
	return s
}

// newShop returns a shop whose Replica, Log and Observers are not set.
func newShop(redis *dao.Redis, store *dao.Store) *service.Shop {
	clock := lock.SystemClock{}
	return &service.Shop{
		Stock: store, Ledger: store,
		Key: dao.NewLockKey(redis.Lock, redis.Nodes, lock.Key),
		Barrier: lockv6.New(redis.Store, lock.Options{
			Key: dao.BarrierKey, TTL: barrierTTL, RetryInterval: barrierRetry, WaitTimeout: barrierWait, Clock: clock,
		}),
		Clock: clock, NewID: uuid.NewString,
		Strategies: supportedStrategies(redis.Servers),
		Parts: strategy.Parts{
			Options: lock.Options{Key: lock.Key, Notifier: redis.Notifier, Rand: rand.Int64N},
			Client:  redis.Lock, CompareAndDelete: redis.Servers.CompareAndDelete, Nodes: redis.Nodes.Clients(),
		},
	}
}

// serve starts the heartbeat and the HTTP server.
func (s *Server) serve(ctx context.Context, listener net.Listener) {
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.StopBeating = func() {
		stop()
		<-s.heartbeatEnded
	}
	go func() {
		defer close(s.heartbeatEnded)
		s.API.Shop.SendHeartbeats(beating)
	}()
	sales, cancelSales := context.WithCancel(context.WithoutCancel(ctx))
	s.cancelSales = cancelSales
	s.web.http.BaseContext = func(net.Listener) context.Context { return sales }
	s.serveErr = s.web.start(listener)
}

// checkLock returns an error if this Redis lacks, or does not permit, what the lock needs.
func checkLock(ctx context.Context, version string, redis *dao.Redis) error {
	strategy, err := evolution.Find(version)
	if err != nil {
		return err
	}
	return redis.CheckStrategy(ctx, strategy, lock.Key, dao.ShopRights())
}

// supportedStrategies returns the strategies that these Redis servers support, by name.
func supportedStrategies(servers strategy.Servers) map[string]strategy.Strategy {
	all := map[string]strategy.Strategy{}
	for _, row := range evolution.Table() {
		if row.CheckServers(servers) == nil {
			all[row.Name] = row
		}
	}
	return all
}

// Close waits for the sales in flight, then closes everything. Sales that do not end in time are cancelled, and release their locks.
func (s *Server) Close() error {
	err := s.Shutdown(s.API.Shop.LongestSale())
	if err != nil {
		s.API.Log.Error("sales in flight are cancelled: they did not end in time")
		s.cancelSales()
		err = errors.Join(err, s.Shutdown(LeaveTime))
	}
	s.cancelSales()
	s.Live.Close()
	s.StopBeating()
	ctx, cancel := context.WithTimeout(context.Background(), LeaveTime)
	defer cancel()
	if err := s.API.Shop.Close(ctx); err != nil {
		s.API.Log.Warn("closing the lock and deleting this replica's heartbeat", "error", err)
	}
	return errors.Join(err, s.Redis.Close())
}

// Shutdown stops accepting requests and waits for those in flight. It returns an error if that takes longer than within.
func (s *Server) Shutdown(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return s.web.shutdown(ctx)
}

// Handler returns the HTTP server's handler, to be called directly, without a network connection.
func (s *Server) Handler() http.Handler { return s.web.http.Handler }

// URL returns the server's URL for this machine.
func (s *Server) URL() string { return "http://" + config.Reachable(s.Addr) }

// displayURL returns the URL of a listener at addr, for messages.
func displayURL(addr string) string {
	reachable := config.Reachable(addr)
	if addr != reachable {
		return "http://" + reachable + " (and every other address of this machine)"
	}
	return "http://" + addr
}

// firstLine returns the startup message: the URL, the lock and the Redis.
func (s *Server) firstLine(ctx context.Context) string {
	version, _, err := s.API.Shop.LockState(ctx)
	if err != nil {
		return fmt.Sprintf("lockstep: %s · %s · %v", s.URL(), s.Redis.Name, err)
	}
	title := ""
	if strategy, err := evolution.Find(version); err == nil {
		title = " (" + strategy.Title.In(language.English) + ")"
	}
	return fmt.Sprintf("lockstep: %s · lock %s%s · %s%s",
		displayURL(s.Addr), version, title, describeRedis(s.Redis, version), describeCapacity(load.OwnCapacity()))
}

// describeCapacity returns the limit of concurrent buyers as text; "" without a limit.
func describeCapacity(capacity load.Capacity) string {
	if capacity.Connections == 0 {
		return ""
	}
	return fmt.Sprintf(" · up to %d buyers at once", capacity.Connections)
}

// describeRedis returns a Redis's name and version, with the nodes or the native command that the lock uses.
func describeRedis(redis *dao.Redis, version string) string {
	strategy, _ := evolution.Find(version) // An unknown lock has the zero strategy.
	name := redis.Name
	if server := redis.Version(); server != "" {
		name += " (" + server + ")"
	}
	switch {
	case strategy.OnNodes:
		return name + " · nodes " + redis.Nodes.String()
	case strategy.Native:
		return name + " · released by " + redis.Servers.CompareAndDelete
	default:
		return name
	}
}

// replicaName returns the default replica name: the host name and the process id.
func replicaName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "replica"
	}
	return host + "-" + strconv.Itoa(os.Getpid())
}
