// Package server puts a server together: the shop with its Redis, and what its page shows, behind one HTTP server; or a cluster's front.
// It is the only place that knows all of these rooms. Begin with Serve.
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

// The barrier is a lock of our own making, renewed while it is held; its expiry is how long a replica that dies while it
// changes the run can hold up the others.
const (
	barrierTTL   = 5 * time.Second
	barrierRetry = 20 * time.Millisecond
	barrierWait  = 2 * time.Minute
)

// LeaveTime bounds each step of ending that talks to Redis or to clients.
const LeaveTime = 5 * time.Second

// Server is a shop, its Redis, and the HTTP server in front.
type Server struct {
	API         *api.API
	Redis       *dao.Redis
	Live        *live.Server
	Witness     *witness.Recorder
	Addr        string
	StopBeating context.CancelFunc // ends the heartbeat: the other replicas take this one for dead

	instance    string // unlike any other process's
	web         *webServer
	failed      <-chan error // the HTTP server ended by itself
	cancelSales context.CancelFunc
	lived       chan struct{} // closed when the heartbeat has ended
}

// Open listens, opens the Redis, joins or begins a run, and serves; or it fails, and nothing is left open. The server ends by Close,
// not with ctx.
func Open(ctx context.Context, cfg config.Config, o Options) (*Server, error) {
	listener, redis, err := listen(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s := newServer(cfg, redis, listener.Addr(), o)
	if err := s.API.Shop.Open(ctx, cfg.Settings); err != nil {
		row, _ := evolution.Find(cfg.Settings.Lock) // listen has found it
		err = redis.Denied(row, lock.Key, dao.ShopRights(), err)
		return nil, errors.Join(fmt.Errorf("opening the shop: %w", err), listener.Close(), redis.Close())
	}
	warnOf(s.API.Guard, listener.Addr(), s.API.Log)
	if !o.BehindFront { // the front has told
		warnOfEviction(ctx, redis, s.API.Log)
	}
	s.serve(ctx, listener)
	return s, nil
}

// listen opens the address of a server or a front, and its Redis, which has what the lock needs.
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
	if err := fits(ctx, cfg.Settings.Lock, redis); err != nil {
		return nil, nil, errors.Join(err, listener.Close(), redis.Close())
	}
	return listener, redis, nil
}

// newServer makes a server of an open Redis. It asks Redis nothing yet.
func newServer(cfg config.Config, redis *dao.Redis, addr net.Addr, o Options) *Server {
	replica := cmp.Or(cfg.Server.Replica, replicaName())
	log := o.Log.With("replica", replica)
	instance := uuid.NewString()
	store := dao.NewStore(redis.Store, instance, cfg.MaxOrders)
	store.Calls = redis.Calls
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
	guard.Local = guard.Local && !o.BehindFront // which forwards, and has asked itself
	shown := &live.Replica{Name: replica, Recorder: recorder, Shop: shop, Peers: cfg.Server.Peers}
	rooms, room := newRooms(cfg, guard, addr, redis, shown, o.Program, o.BehindFront), load.OwnCapacity()
	rooms.shown.Streams = &api.Streams{Most: room.Streams, Share: room.Streams / 2}
	if o.BehindFront { // all are of the front, which knows them
		rooms.shown.Streams.Share = 0
	}
	s := &Server{
		API: &api.API{
			Shop: shop, Metrics: counts, NewID: uuid.NewString, BehindFront: o.BehindFront,
			Replica: replica, Redis: redis.Name, Version: redis.Version(), Buyers: room.Connections, Nodes: redis.Nodes.Addrs(),
			Log: log, Guard: guard,
			Fits: func(ctx context.Context, version string) error { return fits(ctx, version, redis) },
		},
		Redis: redis, instance: instance, Live: rooms.shown, Witness: recorder,
		Addr:  addr.String(),
		lived: make(chan struct{}),
	}
	rooms.shop, rooms.events = s.API, route.Of(recorder)
	s.web = newWebServer(api.NewHandler(guard, rooms.routes()), replica, log, room, append(rooms.closers(), recorder.Close)...)
	return s
}

// newShop makes a shop without a name, a log and observers.
func newShop(redis *dao.Redis, store *dao.Store) *service.Shop {
	clock := lock.SystemClock{}
	return &service.Shop{
		Stock: store, Ledger: store,
		Key: dao.NewLockKey(redis.Lock, redis.Nodes, lock.Key),
		Barrier: lockv6.New(redis.Store, lock.Options{
			Key: dao.BarrierKey, TTL: barrierTTL, RetryInterval: barrierRetry, WaitTimeout: barrierWait, Clock: clock,
		}),
		Clock: clock, NewID: uuid.NewString,
		Strategies: strategies(redis.Servers),
		Parts: strategy.Parts{
			Options: lock.Options{Key: lock.Key, Notifier: redis.Notifier, Rand: rand.Int64N},
			Client:  redis.Lock, CompareAndDelete: redis.Servers.CompareAndDelete, Nodes: redis.Nodes.Clients(),
		},
	}
}

// serve starts the heartbeat and the HTTP server.
func (s *Server) serve(ctx context.Context, listener net.Listener) {
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.StopBeating = stop
	go func() {
		defer close(s.lived)
		s.API.Shop.Live(beating)
	}()
	sales, cancelSales := context.WithCancel(context.WithoutCancel(ctx))
	s.cancelSales = cancelSales
	s.web.http.BaseContext = func(net.Listener) context.Context { return sales }
	s.failed = s.web.start(listener)
}

// fits fails if a lock needs what this Redis does not have, or does not allow.
func fits(ctx context.Context, version string, redis *dao.Redis) error {
	strategy, err := evolution.Find(version)
	if err != nil {
		return err
	}
	return redis.Fits(ctx, strategy, lock.Key, dao.ShopRights())
}

// strategies returns those whose locks can be on these servers.
func strategies(there strategy.Servers) map[string]strategy.Strategy {
	all := map[string]strategy.Strategy{}
	for _, row := range evolution.Table() {
		if row.Fits(there) == nil {
			all[row.Name] = row
		}
	}
	return all
}

// Close lets the sales in flight end, then ends everything. Sales that do not end in time are cancelled, and release their locks.
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
	<-s.lived
	ctx, cancel := context.WithTimeout(context.Background(), LeaveTime)
	defer cancel()
	if err := s.API.Shop.Close(ctx); err != nil {
		s.API.Log.Warn("saying goodbye to the other replicas", "error", err)
	}
	return errors.Join(err, s.Redis.Close())
}

// Shutdown takes no more requests, and returns when those in flight have been answered. It fails if that takes too long.
func (s *Server) Shutdown(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return s.web.shutdown(ctx)
}

// Handler returns what the HTTP server answers with, for those who ask without a connection.
func (s *Server) Handler() http.Handler { return s.web.http.Handler }

// URL returns the server's URL for this machine.
func (s *Server) URL() string { return "http://" + config.Reachable(s.Addr) }

// where returns the URL of what listens at addr, for people.
func where(addr string) string {
	reachable := config.Reachable(addr)
	if addr != reachable {
		return "http://" + reachable + " (and every other address of this machine)"
	}
	return "http://" + addr
}

// firstLine tells the URL, the lock and the Redis.
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
		where(s.Addr), version, title, redisOf(s.Redis, version), buyersOf(load.OwnCapacity()))
}

// buyersOf says how many buyers a server takes at once; nothing if there is no bound.
func buyersOf(room load.Capacity) string {
	if room.Connections == 0 {
		return ""
	}
	return fmt.Sprintf(" · up to %d buyers at once", room.Connections)
}

// redisOf names a Redis and its version, with what a lock uses of it beside the usual.
func redisOf(redis *dao.Redis, version string) string {
	strategy, _ := evolution.Find(version) // an unknown one uses nothing
	name := redis.Name
	if says := redis.Version(); says != "" {
		name += " (" + says + ")"
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

// replicaName tells one process from another in logs and answers.
func replicaName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "replica"
	}
	return host + "-" + strconv.Itoa(os.Getpid())
}
