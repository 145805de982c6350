package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"
	goredis "github.com/redis/go-redis/v9"

	"lockstep/docs"
	"lockstep/internal/dao"
	"lockstep/internal/explore/seat"
	"lockstep/internal/language"
	"lockstep/internal/learn/classroom"
	"lockstep/internal/learn/steps"
	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/lockv6"
	"lockstep/internal/service"
	"lockstep/internal/shop/api"
	"lockstep/internal/shop/config"
	"lockstep/internal/shop/metrics"
	"lockstep/internal/watch/live"
	"lockstep/internal/watch/witness"
	"lockstep/internal/web"
)

// The door is a lock of our own making, renewed while it is held; its expiry is how long a replica that dies while it
// changes the run can hold up the others.
const (
	doorTTL   = 5 * time.Second
	doorRetry = 20 * time.Millisecond
	doorWait  = 2 * time.Minute
)

// leaveTime is how long each step of ending may take that talks to Redis or to clients.
const leaveTime = 5 * time.Second

// server is a shop, its Redis, and the HTTP server in front.
type server struct {
	api      *api.API
	redis    *dao.Redis
	instance string // unlike any other process's
	events   *witness.Recorder
	seat     *seat.Seat
	live     *live.Server
	class    *classroom.Classroom
	web      *webServer
	addr     string
	failed   chan error // the HTTP server ended by itself
	stop     context.CancelFunc

	cancelSales context.CancelFunc
	lived       chan struct{} // closed when the heartbeat has ended
}

// openServer listens, opens the Redis, joins or begins a run, and serves; or it fails, and nothing is left open. The server ends by close,
// not with ctx.
func openServer(ctx context.Context, cfg config.Config, log *slog.Logger, orderIDs api.OrderIDs) (*server, error) {
	listener, err := net.Listen("tcp", cfg.Server.Addr)
	if err != nil {
		return nil, fmt.Errorf("server.addr: cannot listen on %s: %w; choose another with --server.addr", cfg.Server.Addr, err)
	}
	redis, err := dao.Open(ctx, dao.Config(cfg.Redis))
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	if err := fits(cfg.Lock.Version, redis); err != nil {
		return nil, errors.Join(err, listener.Close(), redis.Close())
	}
	s := newServer(cfg, redis, listener.Addr(), log, orderIDs)
	if err := s.api.Shop.Open(ctx, s.settings(cfg)); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the shop: %w", err), listener.Close(), redis.Close())
	}
	warnOf(s.api.Guard, listener.Addr(), s.api.Log)
	s.serve(ctx, listener)
	return s, nil
}

// newServer makes a server of an open Redis. It asks Redis nothing yet.
func newServer(cfg config.Config, redis *dao.Redis, addr net.Addr, log *slog.Logger, orderIDs api.OrderIDs) *server {
	replica := cmp.Or(cfg.Server.Replica, replicaName())
	log = log.With("replica", replica)
	instance := uuid.NewString()
	shop := newShop(redis, dao.NewStore(redis.Store, instance, cfg.Inventory.MaxOrders))
	shop.Replica, shop.Log = replica, log
	counts := metrics.New(replica, shop.Tally)
	recorder := witness.NewRecorder(replica, instance, time.Now)
	shop.Observers = service.Observers{counts, recorder}
	for _, hook := range []goredis.Hook{counts, recorder.Hook()} {
		redis.Lock.AddHook(hook)
		redis.Store.AddHook(hook)
	}
	for i, node := range redis.Nodes {
		node.AddHook(counts)
		node.AddHook(recorder.HookOfNode(i+1, len(redis.Nodes)))
	}
	chair := seat.New(seat.Usual(), seat.Errors{Status: api.StatusOf, Write: api.WriteError})
	class := classroom.New(docs.Course())
	guard := newGuard(cfg, addr)
	shown := newLive(cfg, guard, addr, &live.Replica{Name: replica, Recorder: recorder, Shop: shop, Peers: cfg.Server.Peers})
	s := &server{
		api: &api.API{
			Shop: shop, Metrics: counts, Events: recorder, Live: shown.Handler(), Page: web.Handlers(), OrderIDs: orderIDs,
			Replica: replica, Redis: redis.Name, Nodes: redis.Nodes.Addrs(), Log: log,
			Guard: guard,
			Seat:  below(chair), Course: class.Handler(),
		},
		redis: redis, instance: instance, events: recorder, seat: chair, live: shown, class: class,
		addr:   addr.String(),
		failed: make(chan error, 1),
		lived:  make(chan struct{}),
	}
	s.api.NodeFaults = nodeFaults(redis, shown.Hub)
	return s
}

// below is what is below /seat: the scheduler's seat, and the steps.
func below(chair http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", chair)
	mux.Handle("/seat/steps", steps.Handler())
	mux.Handle("/seat/steps/", steps.Handler())
	return mux
}

// newShop makes a shop without a name, a log and observers.
func newShop(redis *dao.Redis, store *dao.Store) *service.Shop {
	clock := lock.SystemClock{}
	return &service.Shop{
		Stock: store, Ledger: store,
		Key: dao.NewLockKey(redis.Lock, redis.Nodes, lock.Key),
		Door: lockv6.New(redis.Store, lock.Options{
			Key: dao.DoorKey, TTL: doorTTL, RetryInterval: doorRetry, WaitTimeout: doorWait, Clock: clock,
		}),
		Clock: clock, NewID: uuid.NewString,
	}
}

// serve starts the heartbeat and the HTTP server.
func (s *server) serve(ctx context.Context, listener net.Listener) {
	live, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	go func() {
		defer close(s.lived)
		s.api.Shop.Live(live)
	}()
	sales, cancelSales := context.WithCancel(context.WithoutCancel(ctx))
	s.cancelSales = cancelSales
	s.web = newWebServer(s.api.Handler(), s.api.Replica, s.api.Log)
	s.web.http.RegisterOnShutdown(s.events.Close) // or it would wait for the watchers to leave
	s.web.http.RegisterOnShutdown(s.live.Close)
	s.web.http.RegisterOnShutdown(s.class.Close)
	s.web.http.RegisterOnShutdown(s.seat.Close)
	s.web.http.BaseContext = func(net.Listener) context.Context { return sales }
	go func() { s.failed <- s.web.serve(listener) }()
}

// fits fails if a lock needs nodes that this Redis does not have.
func fits(version string, redis *dao.Redis) error {
	strategy, err := evolution.Find(version)
	if err != nil {
		return err
	}
	return strategy.Fits(len(redis.Nodes))
}

// settings are the part of the configuration that may change while the shop is open.
func (s *server) settings(cfg config.Config) service.Settings {
	strategies := map[string]strategy.Strategy{}
	for _, row := range evolution.Table() {
		if row.Fits(len(s.redis.Nodes)) != nil {
			continue
		}
		strategies[row.Name] = row
	}
	return service.Settings{
		Version: cfg.Lock.Version,
		Lock: strategy.Parts{
			Options: lock.Options{
				Key: lock.Key, TTL: cfg.Lock.TTL, RetryInterval: cfg.Lock.RetryInterval, WaitTimeout: cfg.Lock.WaitTimeout,
				Clock: lock.SystemClock{Ahead: cfg.Server.ClockOffset},
			},
			Client: s.redis.Lock, Nodes: s.redis.Nodes.Clients(), Process: s.instance, HandOffLimit: cfg.Lock.HandOffLimit,
			Notifier: s.redis.Notifier, Rand: rand.Int64N,
		},
		Think: cfg.Sale.ThinkTime, Nested: cfg.Sale.Nested, Initial: cfg.Inventory.Initial,
		Strategies: strategies,
		Backoff: service.Backoff{
			Delay: cfg.Lock.RetryInterval, MaxDuration: cfg.Lock.WaitTimeout, Clock: s.api.Shop.Clock, Rand: rand.Int64N,
		},
	}
}

// close lets the sales in flight end, then ends everything. Sales that do not end in time are cancelled, and release their locks.
func (s *server) close() error {
	err := s.shutdown(s.api.Shop.LongestSale())
	if err != nil {
		s.api.Log.Error("sales in flight are cancelled: they did not end in time")
		s.cancelSales()
		err = errors.Join(err, s.shutdown(leaveTime))
	}
	s.cancelSales()
	s.live.Close()
	s.stop()
	<-s.lived
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := s.api.Shop.Close(ctx); err != nil {
		s.api.Log.Warn("saying goodbye to the other replicas", "error", err)
	}
	return errors.Join(err, s.redis.Close())
}

func (s *server) shutdown(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return s.web.shutdown(ctx)
}

// url is the server's URL for this machine.
func (s *server) url() string { return "http://" + reachable(s.addr) }

// reachable gives the address to ask of one to listen at: loopback, if the server listens at every address of this machine.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}

// where gives the URL of what listens at addr, for people.
func where(addr string) string {
	if addr != reachable(addr) {
		return "http://" + reachable(addr) + " (and every other address of this machine)"
	}
	return "http://" + addr
}

// firstLine tells the URL, the lock and the Redis.
func (s *server) firstLine(ctx context.Context) string {
	version, _, err := s.api.Shop.LockState(ctx)
	if err != nil {
		return fmt.Sprintf("lockstep: %s · %s · %v", s.url(), s.redis.Name, err)
	}
	title, nodes := "", ""
	if strategy, err := evolution.Find(version); err == nil {
		title = " (" + strategy.Title.In(language.English) + ")"
		if strategy.OnNodes {
			nodes = " · nodes " + s.redis.Nodes.String()
		}
	}
	return fmt.Sprintf("lockstep: %s · lock %s%s · %s%s", where(s.addr), version, title, s.redis.Name, nodes)
}

// replicaName tells one process from another in logs and answers.
func replicaName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "replica"
	}
	return host + "-" + strconv.Itoa(os.Getpid())
}
