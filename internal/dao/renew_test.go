package dao

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"lockstep/internal/dao/redisclient"
)

// A subscriber must not wait at a server that is no longer the master, so its subscription is renewed as soon as any client sees a READONLY
// error. By itself go-redis checks a subscription only every three seconds.
func TestStaleSubscriptionIsRenewedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := miniredis.NewMiniRedis()
		defer m.Close()
		r := newRedis(redisclient.Config{
			Addrs:    []string{"127.0.0.1:6379"},
			Dialer:   func(context.Context, string, string) (net.Conn, error) { return m.Dial() },
			PoolSize: 100, // a command that has to wait for a connection waits on a timer from outside the bubble
		}, 100, nil)
		defer r.Close()
		heard := make(chan string, 10)
		r.Notifier.Subscribe("channel", func(message string) { heard <- message })
		if got := <-heard; got != "" {
			t.Fatalf("heard %q; want that the subscription is there", got)
		}
		m.Server().SetPreHook(func(peer *server.Peer, command string, _ ...string) bool {
			if command == "SET" {
				peer.WriteError("READONLY You can't write against a read only replica.")
			}
			return command == "SET"
		})
		since := time.Now()
		if err := r.Store.Set(t.Context(), "key", "", 0).Err(); err == nil {
			t.Fatal("SET was not refused")
		}
		select {
		case <-heard: // of the new subscription
		case <-time.After(time.Minute):
			t.Error("the subscription is never made anew")
		}
		if took := time.Since(since); took > time.Second {
			t.Errorf("it was there again after %v; want at once", took)
		}
	})
}
