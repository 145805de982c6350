package redisclient_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockstep/internal/dao/redisclient"
)

// A client of every kind of Redis sends a command once, and has the options of its caller.
func TestOptionsSelectClientKind(t *testing.T) {
	for name, cfg := range map[string]redisclient.Config{
		"single":   {Addrs: []string{"127.0.0.1:1"}},
		"Sentinel": {Addrs: []string{"127.0.0.1:1"}, MasterName: "shop"},
		"Cluster":  {Addrs: []string{"127.0.0.1:1"}, Cluster: true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Username, cfg.Password, cfg.PoolSize, cfg.Idle = "user", "password", 7, time.Second
			client := redis.NewUniversalClient(redisclient.Options(cfg))
			defer client.Close()
			var o redis.ClusterOptions
			switch client := client.(type) {
			case *redis.ClusterClient:
				o = *client.Options()
			case *redis.Client:
				single := client.Options()
				o = redis.ClusterOptions{
					MaxRetries: single.MaxRetries, DialerRetries: single.DialerRetries, Protocol: single.Protocol, PoolSize: single.PoolSize,
					Username: single.Username, Password: single.Password, DialTimeout: single.DialTimeout, PoolTimeout: single.PoolTimeout,
					DisableIdentity: single.DisableIdentity, ContextTimeoutEnabled: single.ContextTimeoutEnabled,
					ConnMaxIdleTime: single.ConnMaxIdleTime, MaintNotificationsConfig: single.MaintNotificationsConfig,
				}
			default:
				t.Fatalf("%T", client)
			}
			if o.MaxRetries > 0 || o.MaxRedirects > 0 || o.DialerRetries != 1 {
				t.Errorf("got %d retries, %d redirects, %d dials; want none, none and one", o.MaxRetries, o.MaxRedirects, o.DialerRetries)
			}
			if o.Username != "user" || o.Password != "password" || o.PoolSize != 7 || o.ConnMaxIdleTime != time.Second || o.Protocol != 2 ||
				!o.DisableIdentity || !o.ContextTimeoutEnabled || o.DialTimeout != 2*time.Second || o.PoolTimeout != 4*time.Second {
				t.Errorf("got %+v", o)
			}
			if endpoint := o.MaintNotificationsConfig.EndpointType; cfg.MasterName == "" && endpoint != maintnotifications.EndpointTypeNone {
				t.Errorf("the type of an endpoint is %q; to find that out, a client resolves its name", endpoint)
			}
		})
	}
}

// A command whose reply was lost is not sent a second time.
func TestCommandIsNotRetried(t *testing.T) {
	sent := 0
	client := redisclient.Single(redisclient.Config{
		Addrs:  []string{"127.0.0.1:6379"},
		Dialer: func(context.Context, string, string) (net.Conn, error) { return &losing{sent: &sent}, nil },
	})
	defer client.Close()
	if err := client.Incr(t.Context(), "n").Err(); !errors.Is(err, io.EOF) {
		t.Errorf("INCR: %v; want io.EOF", err)
	}
	if sent != 1 {
		t.Errorf("INCR was sent %d times; want once", sent)
	}
}

// losing is a connection that closes when INCR arrives, and answers every other command with an error.
type losing struct {
	sent  *int
	ended bool
}

func (l *losing) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("incr")) {
		l.ended = true
		*l.sent++
	}
	return len(p), nil
}

func (l *losing) Read(p []byte) (int, error) {
	if l.ended {
		return 0, io.EOF
	}
	return copy(p, "-ERR unknown command\r\n"), nil
}

func (*losing) Close() error                     { return nil }
func (*losing) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*losing) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*losing) SetDeadline(time.Time) error      { return nil }
func (*losing) SetReadDeadline(time.Time) error  { return nil }
func (*losing) SetWriteDeadline(time.Time) error { return nil }
