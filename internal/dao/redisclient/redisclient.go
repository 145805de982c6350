// Package redisclient creates all Redis clients, for the shop, the explorer, the benchmark and the tests. Its clients never retry a command
// by themselves: a retried command whose first reply was lost would count twice, in a lock's hash as in the ledger. Begin with Options.
package redisclient

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Default timeouts. They bound how long a command can wait for a Redis that does not answer.
const (
	dialTimeout = 2 * time.Second
	ioTimeout   = 3 * time.Second // limit of one read or write

	// PoolTimeout is the default limit of the wait for a free connection: longer than ioTimeout, after which one becomes free.
	PoolTimeout = 4 * time.Second
)

// ConnectionsPerCore is the default maximum of connections per CPU core, which is go-redis's own. Config.PoolSize overrides it.
const ConnectionsPerCore = 10

// Config holds the options that differ between clients. The zero value of each field selects its default.
type Config struct {
	Addrs      []string // host:port each, or the path of a unix socket
	DB         int      // database number; ignored by a Cluster
	MasterName string   // name of the master that the Sentinels at Addrs watch; empty: no Sentinels
	Cluster    bool     // true: Addrs are nodes of a Redis Cluster
	Username   string
	Password   string
	TLS        *tls.Config // nil: no TLS

	Timeout  time.Duration // limit of a dial, of a read or write, and of the wait for a connection; 0: 2 s, 3 s and 4 s
	Idle     time.Duration // idle time after which a connection is closed; 0: go-redis's default
	PoolSize int           // maximum number of connections; 0: ConnectionsPerCore for each core
	Buffer   int           // size in bytes of a connection's read buffer and of its write buffer; 0: go-redis's default
	Dialer   Dialer        // opens the connections; nil: go-redis's own
}

// Dialer opens a network connection.
type Dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// Single returns a client of a single Redis. The caller must Close it.
func Single(cfg Config) *redis.Client { return redis.NewClient(Options(cfg).Simple()) }

// Options returns the go-redis options of a client of a single Redis, a Sentinel set or a Cluster.
func Options(cfg Config) *redis.UniversalOptions {
	o := &redis.UniversalOptions{
		Addrs:         cfg.Addrs,
		DB:            cfg.DB,
		MasterName:    cfg.MasterName,
		IsClusterMode: cfg.Cluster,
		Username:      cfg.Username,
		Password:      cfg.Password,
		TLSConfig:     cfg.TLS,

		MaxRetries:    -1,
		MaxRedirects:  -1, // Redirects would also make a Cluster client retry a command whose reply was lost.
		DialerRetries: 1,

		DialTimeout:           dialTimeout,
		ReadTimeout:           ioTimeout,
		WriteTimeout:          ioTimeout,
		PoolTimeout:           PoolTimeout,
		ContextTimeoutEnabled: true,
		ConnMaxIdleTime:       cfg.Idle,
		PoolSize:              cfg.PoolSize,
		ReadBufferSize:        cfg.Buffer,
		WriteBufferSize:       cfg.Buffer,
		Dialer:                cfg.Dialer,

		Protocol:        2,
		DisableIdentity: true, // Otherwise MONITOR would show CLIENT SETINFO for every connection.
		MaintNotificationsConfig: &maintnotifications.Config{
			// With another EndpointType go-redis would resolve the address at once.
			Mode: maintnotifications.ModeDisabled, EndpointType: maintnotifications.EndpointTypeNone,
		},
	}
	if cfg.Timeout > 0 {
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = cfg.Timeout, cfg.Timeout, cfg.Timeout, cfg.Timeout
	}
	return o
}
