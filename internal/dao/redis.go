// Package dao stores the stock and the order ledger in Redis. Open connects to a Redis (embedded in this process, single, Sentinel or
// Cluster) and to the masters for Redlock; Store implements service.Stock and service.Ledger on it; LockKey shows the key of a lock. Begin
// with Open and Store.
package dao

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/strategy"
)

// embeddedTimeout is the client timeout for the embedded Redis. It is long because a slow embedded Redis means that this process is starved
// of CPU time, too.
const embeddedTimeout = time.Minute

// embeddedLockPool is the number of connections that the locks of a process have to an embedded Redis: one for waiters, one for holders.
// The embedded Redis is slow and executes one command at a time, so more polling connections would only delay the holder's commands.
const embeddedLockPool = 2

// Config selects the Redis to open, and how to connect to it.
type Config struct {
	Addrs           []string // addresses in the format of Address.String; empty: an embedded Redis
	EmbeddedAddr    string   // listening address of the embedded Redis, for redis-cli
	EmbeddedClients int      // most connections accepted by the embedded Redis and masters; 0: unlimited
	MasterName      string   // name of the master that the Sentinels at Addrs watch; empty: no Sentinels
	Cluster         bool     // true: Addrs are nodes of a Redis Cluster
	RedlockAddrs    []string // addresses of independent masters for Redlock; empty: embedded ones if the Redis is embedded
	Username        string
	Password        string
	TLS             bool
	TLSCA           string        // PEM file of the trusted certificate authority; empty: the system's authorities
	TLSCert         string        // PEM file of the client certificate; empty: none
	TLSKey          string        // PEM file of the private key of TLSCert
	PoolSize        int           // most connections of each client; 0: go-redis's default of ten per core
	Idle            time.Duration // idle time after which a connection is closed; 0: go-redis's default
}

// Redis is an open Redis. Locks and the store have separate clients, so that waiters polling for a lock do not delay the sale that holds
// it.
type Redis struct {
	Lock              redis.UniversalClient
	Store             redis.UniversalClient
	Notifier          *Notifier        // pub/sub of the locks, on client Lock
	HeartbeatRequests *Notifier        // best-effort pub/sub on client Store: a message may be lost
	Nodes             Nodes            // masters for Redlock; may be empty
	Servers           strategy.Servers // servers available to a lock, and what they support
	Name              string           // description of the Redis for messages
	Addr              string           // address of its first server, in the format of Address.String

	embedded *embedded          // nil: the Redis is another process
	config   redisclient.Config // client configuration of a Redis that is not embedded
}

// disableClientLog disables go-redis's logger, which logs every failed connection; callers get the error anyway. The logger is a global of
// go-redis, so it is set once: setting it again would race with running clients.
var disableClientLog = sync.OnceFunc(logging.Disable) //nolint:gochecknoglobals // go-redis has one logger per process

// Open connects to the configured Redis, and fails with the cause and a remedy if it does not answer or is unsuitable. The caller must call
// Close.
func Open(ctx context.Context, cfg Config) (*Redis, error) {
	disableClientLog()
	tlsSettings, err := tlsConfig(cfg)
	if err != nil {
		return nil, err
	}
	client := redisclient.Config{Username: cfg.Username, Password: cfg.Password, TLS: tlsSettings, Idle: cfg.Idle, PoolSize: cfg.PoolSize}
	nodes, err := openNodes(ctx, cfg.RedlockAddrs, client)
	if err != nil {
		return nil, err
	}
	if len(cfg.Addrs) == 0 {
		return openEmbedded(ctx, cfg, nodes)
	}
	client.MasterName, client.Cluster = cfg.MasterName, cfg.Cluster
	for _, text := range cfg.Addrs {
		addr, err := ParseAddress(text)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("redis.addrs: %w", err), nodes.close())
		}
		client.Addrs, client.DB = append(client.Addrs, addr.Dial), addr.DB
	}
	lockPool := 0
	if slices.Equal(cfg.Addrs, []string{cfg.EmbeddedAddr}) { // Another lockstep process has embedded it.
		lockPool = embeddedLockPool
	}
	r := newRedis(client, lockPool, nodes)
	r.Addr, r.config = cfg.Addrs[0], client
	r.Name = "Redis " + strings.Join(cfg.Addrs, ",")
	switch {
	case cfg.MasterName != "":
		r.Name += " (Sentinel, master " + cfg.MasterName + ")"
	case cfg.Cluster:
		r.Name += " (Cluster)"
	}
	if err = checkServer(ctx, r.Store, client); err == nil {
		r.Servers, err = DetectServers(ctx, r.Store, nodes)
	}
	err = endpoint{"redis.addrs", strings.Join(cfg.Addrs, ","), client}.explain(ctx, err)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("redis.addrs: %w", err), r.Close())
	}
	return r, nil
}

// openEmbedded starts an embedded Redis, and its masters for Redlock if there are no other nodes.
func openEmbedded(ctx context.Context, cfg Config, nodes Nodes) (*Redis, error) {
	clientLimit := &clientLimit{maxClients: cfg.EmbeddedClients}
	m, err := startEmbedded(cfg.EmbeddedAddr, clientLimit)
	if err != nil {
		return nil, errors.Join(
			fmt.Errorf("redis.embedded_addr: cannot listen on %s: %w; choose another port, or a real Redis by redis.addrs", cfg.EmbeddedAddr, err),
			nodes.close())
	}
	if len(nodes) == 0 {
		if nodes, err = startEmbeddedNodes(m, clientLimit); err != nil {
			m.Close()
			return nil, err
		}
	}
	yieldToBrowser(m.Miniredis)
	r := newRedis(embeddedConfig(m), embeddedLockPool, nodes)
	r.Name, r.Addr, r.embedded = "embedded Redis "+m.Addr, m.Addr, m
	if r.Servers, err = DetectServers(ctx, r.Store, nodes); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// newRedis creates the clients of a Redis. lockPool bounds the connections of the Lock client; 0: as cfg.PoolSize.
func newRedis(cfg redisclient.Config, lockPool int, nodes Nodes) *Redis {
	master := new(masterTracker)
	r := &Redis{Store: newClient(cfg, master), Nodes: nodes}
	cfg.PoolSize = cmp.Or(lockPool, cfg.PoolSize)
	r.Lock = newLockClient(cfg, master)
	r.Notifier = NewNotifier(r.Lock)
	r.HeartbeatRequests = NewNotifier(r.Store)
	r.HeartbeatRequests.pingInterval = 0
	master.onStale = func() {
		r.Notifier.renew()
		r.HeartbeatRequests.renew()
	}
	return r
}

// embeddedConfig returns the client configuration of an embedded Redis.
func embeddedConfig(m *embedded) redisclient.Config {
	return redisclient.Config{Addrs: []string{m.Addr}, Timeout: embeddedTimeout, Dialer: m.dial}
}

// Close closes the clients and stops the embedded Redis and masters.
func (r *Redis) Close() error {
	err := errors.Join(r.Notifier.Close(), r.HeartbeatRequests.Close(), r.Lock.Close(), r.Store.Close(), r.Nodes.close())
	if r.embedded != nil {
		r.embedded.Close()
	}
	return err
}
