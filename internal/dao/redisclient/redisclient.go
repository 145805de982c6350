// Package redisclient makes all Redis clients, for the shop, the explorer, the benchmark and the tests. A client never repeats a
// command by itself: a repeated command whose first reply was lost counts twice, in a lock's hash as in the ledger.
package redisclient

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// These bound how long a command can wait for a Redis that does not answer.
const (
	dialTimeout = 2 * time.Second
	ioTimeout   = 3 * time.Second // a read or a write

	PoolTimeout = 4 * time.Second // for a free connection
)

// ConnectionsPerCore is how many connections a client has at most, unless Config.PoolSize says otherwise: go-redis's default.
const ConnectionsPerCore = 10

// Config is what differs between clients. The zero value of each field is its default.
type Config struct {
	Addrs      []string // host:port each, or the path of a unix socket
	DB         int      // number of the database; not of a Cluster
	MasterName string   // set: Addrs are Sentinels, and this is the master's name
	Cluster    bool     // Addrs are nodes of a Redis Cluster
	Username   string
	Password   string
	TLS        *tls.Config // none: no TLS

	Timeout  time.Duration // of a dial, of a read or write, and of the wait for a connection; 0: 2 s, 3 s and 4 s
	Idle     time.Duration // a connection that was idle for so long is used no more; 0: go-redis's default
	PoolSize int           // connections at most; 0: go-redis's default, ten a core
	Buffer   int           // bytes that a connection reads at once, and writes; 0: go-redis's default
	Dialer   Dialer        // makes the connections; none: go-redis's own
}

// Dialer makes a connection.
type Dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// Single makes a client of one Redis. The caller must Close it.
func Single(cfg Config) *redis.Client { return redis.NewClient(Options(cfg).Simple()) }

// Options gives the options of a client of a single Redis, a Sentinel set or a Cluster.
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
		MaxRedirects:  -1, // a Cluster client would repeat a command whose reply was lost by these
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
		DisableIdentity: true, // or MONITOR shows CLIENT SETINFO for every connection
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled, EndpointType: maintnotifications.EndpointTypeNone, // or it looks names up at once
		},
	}
	if cfg.Timeout > 0 {
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = cfg.Timeout, cfg.Timeout, cfg.Timeout, cfg.Timeout
	}
	return o
}
