package dao

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// A command that never got a connection certainly had no effect.
func TestNoConnectionIsNoUnknownOutcome(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	client := redis.NewClient(&redis.Options{
		Addr: silent.Addr().String(), PoolSize: 1, MaxActiveConns: 1, PoolTimeout: 10 * time.Millisecond, PipelinePoolSize: -1,
		ReadTimeout: 2 * time.Second, MaxRetries: -1,
	})
	client.AddHook(neverSent{})
	defer client.Close()
	blocked := make(chan struct{})
	go func() {
		_ = client.Ping(t.Context()).Err() // has the one connection, until it times out
		close(blocked)
	}()
	for client.PoolStats().TotalConns == 0 {
		select {
		case <-blocked:
			t.Fatal("the connection was not taken")
		case <-time.After(time.Millisecond):
		}
	}
	for what, err := range map[string]error{
		"command": client.Ping(t.Context()).Err(),
		"pipeline": func() error {
			_, err := client.TxPipelined(t.Context(), func(tx redis.Pipeliner) error { return tx.Ping(t.Context()).Err() })
			return err
		}(),
	} {
		failed := lock.Failed(t.Context(), "PING", err)
		if !errors.Is(err, redis.ErrPoolTimeout) || !errors.Is(failed, lock.ErrUnavailable) || errors.Is(failed, lock.ErrOutcomeUnknown) {
			t.Errorf("%s: %v; want ErrUnavailable", what, failed)
		}
	}
	<-blocked
}
