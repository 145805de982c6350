package dao

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/test/redisserver"
)

// While Redis accepts no more connections, commands wait for an existing one.
func TestCommandWaitsWhenConnectionIsRefused(t *testing.T) {
	t.Parallel()
	server := redisserver.Start(t, "--maxclients", "5")
	client := newClient(redisclient.Config{Addrs: []string{server.Addr}, PoolSize: 50}, new(masterTracker))
	defer client.Close()
	const buyers = 20
	errs := make(chan error, buyers)
	for i := range buyers {
		go func() {
			if i < 6 {
				errs <- client.BLPop(t.Context(), time.Second, "none").Err() // keeps its connection for so long
				return
			}
			_, err := client.Pipelined(t.Context(), func(pipe redis.Pipeliner) error { return pipe.Get(t.Context(), "none").Err() })
			errs <- err
		}()
	}
	for range buyers {
		if err := <-errs; !errors.Is(err, redis.Nil) {
			t.Error(err)
		}
	}
	if said := client.Info(t.Context(), "stats").Val(); strings.Contains(said, "rejected_connections:0\r\n") {
		t.Error("no connection was refused")
	}
}

// If there is no connection at all, the error is what Redis said, and nothing was sent.
func TestRefusedConnectionErrorNamesReason(t *testing.T) {
	t.Parallel()
	server := redisserver.Start(t, "--maxclients", "2")
	for range 2 {
		other, err := net.Dial("tcp", server.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		fmt.Fprint(other, "PING\r\n")
		if _, err := other.Read(make([]byte, 1)); err != nil { // it is accepted
			t.Fatal(err)
		}
	}
	client := newClient(redisclient.Config{Addrs: []string{server.Addr}, Timeout: time.Second}, new(masterTracker))
	defer client.Close()
	err := rediserr.Classify(t.Context(), "SET", client.Set(t.Context(), "key", 1, 0).Err())
	if !errors.Is(err, lock.ErrUnavailable) || !strings.Contains(err.Error(), "it accepts no more connections (redis.pool_size limits") {
		t.Errorf("%v; want what Redis said", err)
	}
}
