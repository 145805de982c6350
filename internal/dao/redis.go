// Package dao keeps the stock and the order ledger in Redis, and opens the Redis they are in: an embedded one, a single
// one, a Sentinel set or a Cluster.
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

// ownTimeout is that of clients of a Redis in our own process: if it is late, so are we.
const embeddedTimeout = time.Minute

// leanPool is how many connections the locks of a process have to an embedded Redis at most: one for those who wait, and one for holders.
// It is slow, and executes one command at a time, so more connections that poll only keep the holder's commands waiting.
const embeddedLockPool = 2

// Config says which Redis to open.
type Config struct {
	Addrs           []string // as Address.String has them; none: an embedded Redis
	EmbeddedAddr    string   // where the embedded Redis listens, so that redis-cli can look in
	EmbeddedClients int      // that come there at most, and to the embedded masters; 0: any number
	MasterName      string   // set: Addrs are Sentinels, and this is the master's name
	Cluster         bool     // Addrs are nodes of a Redis Cluster
	RedlockAddrs    []string // the same of independent masters, for Redlock; none: embedded ones, if the Redis is embedded
	Username        string
	Password        string
	TLS             bool
	TLSCA           string        // PEM file of the authority to trust; empty: the machine's own
	TLSCert         string        // PEM file of our own certificate, for a Redis that asks for one
	TLSKey          string        // PEM file of its private key
	PoolSize        int           // connections of each client at most; 0: go-redis's default, ten a core
	Idle            time.Duration // a connection that was idle for so long is used no more; 0: go-redis's default
}

// Redis is an open Redis: two clients of it, so that waiters polling for the lock do not hold up the sale that has it.
type Redis struct {
	Lock     redis.UniversalClient
	Store    redis.UniversalClient
	Notifier *Notifier        // of Lock
	Calls    *Notifier        // of Store, for those whom it is no matter if a message is lost
	Nodes    Nodes            // for Redlock; none, if there are none
	Servers  strategy.Servers // what a lock can be on
	Name     string           // for people: which Redis this is
	Addr     string           // of the first of its nodes, as Address.String has it

	embedded *embedded
	config   redisclient.Config // of a Redis that is not embedded
}

// silence ends the log of go-redis, which would have every failed connection; our callers get the error. It is a variable of go-redis, for
// all clients of a process: one is enough, as another may be at work.
var disableClientLog = sync.OnceFunc(logging.Disable) //nolint:gochecknoglobals // as what it sets

// Open opens a Redis and sees that it answers.
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
	if slices.Equal(cfg.Addrs, []string{cfg.EmbeddedAddr}) { // another process of ours has embedded it
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
		r.Servers, err = ServersOf(ctx, r.Store, nodes)
	}
	err = endpoint{"redis.addrs", strings.Join(cfg.Addrs, ","), client}.explain(ctx, err)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("redis.addrs: %w", err), r.Close())
	}
	return r, nil
}

func openEmbedded(ctx context.Context, cfg Config, nodes Nodes) (*Redis, error) {
	clientLimit := &clientLimit{most: cfg.EmbeddedClients}
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
	if r.Servers, err = ServersOf(ctx, r.Store, nodes); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// newRedis makes the clients of a Redis; that of the locks has so many connections at most.
func newRedis(cfg redisclient.Config, lockPool int, nodes Nodes) *Redis {
	master := new(masterTracker)
	r := &Redis{Store: newClient(cfg, master), Nodes: nodes}
	cfg.PoolSize = cmp.Or(lockPool, cfg.PoolSize)
	r.Lock = newLockClient(cfg, master)
	r.Notifier = NewNotifier(r.Lock)
	r.Calls = NewNotifier(r.Store)
	r.Calls.pingInterval = 0
	master.onStale = func() {
		r.Notifier.renew()
		r.Calls.renew()
	}
	return r
}

// own returns the configuration of a client of a Redis in our own process.
func embeddedConfig(m *embedded) redisclient.Config {
	return redisclient.Config{Addrs: []string{m.Addr}, Timeout: embeddedTimeout, Dialer: m.dial}
}

// Close closes the clients, and ends the embedded Redis.
func (r *Redis) Close() error {
	err := errors.Join(r.Notifier.Close(), r.Calls.Close(), r.Lock.Close(), r.Store.Close(), r.Nodes.close())
	if r.embedded != nil {
		r.embedded.Close()
	}
	return err
}
