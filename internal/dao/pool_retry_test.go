package dao

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
)

// late is a connection to a Redis that takes its time for each answer. It never times out, however busy the machine is.
type late struct{ net.Conn }

func (late) SetDeadline(time.Time) error { return nil }

func (late) SetReadDeadline(time.Time) error { return nil }

func (c late) Read(into []byte) (int, error) {
	time.Sleep(100 * time.Millisecond)
	return c.Conn.Read(into)
}

// crowd lets buyers ask all at once over one connection, and gives what they got.
func crowd(t *testing.T, patience time.Duration, dial func() (net.Conn, error)) (errs []error) {
	t.Helper()
	client := newClient(redisclient.Config{
		Addrs: []string{"127.0.0.1:6379"}, PoolSize: 1, Timeout: patience,
		Dialer: func(context.Context, string, string) (net.Conn, error) { return dial() },
	}, new(masterTracker))
	defer client.Close()
	const buyers = 30
	results := make(chan error, buyers)
	for i := range buyers {
		go func() {
			if i%2 == 0 {
				results <- client.Incr(t.Context(), "n").Err()
				return
			}
			_, err := client.TxPipelined(t.Context(), func(tx redis.Pipeliner) error { return tx.Incr(t.Context(), "n").Err() })
			results <- err
		}()
	}
	for range buyers {
		errs = append(errs, <-results)
	}
	return errs
}

// Many buyers on a slow machine wait for a connection for longer than the pool would, and get their answers.
func TestWaitersSucceedWhileRedisAnswers(t *testing.T) {
	t.Parallel()
	m := miniredis.NewMiniRedis()
	defer m.Close()
	// 30 answers, a part of them by the one connection that pipelines have for themselves, take longer than this
	for _, err := range crowd(t, time.Second, func() (net.Conn, error) {
		conn, err := m.Dial()
		return late{conn}, err
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	if n, err := m.Get("n"); n != "30" {
		t.Errorf("30 buyers counted to %s, %v", n, err)
	}
}

// A Redis that is gone is an error for all of them.
func TestWaitersFailWhenRedisStopsAnswering(t *testing.T) {
	t.Parallel()
	unavailable := 0
	for _, err := range crowd(t, 200*time.Millisecond, func() (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, theirs) }() // and never says anything
		return ours, nil
	}) {
		if err == nil {
			t.Error("somebody was answered")
		}
		if errors.Is(rediserr.Classify(t.Context(), "INCR", err), lock.ErrUnavailable) {
			unavailable++
		}
	}
	if unavailable < 15 {
		t.Errorf("%d of 30 never got a connection; want most of them", unavailable)
	}
}

// How often a command waits for its turn: as long as others are answered, but not forever.
func TestRetrierStopsWithoutProgress(t *testing.T) {
	broken := errors.New("the connection broke")
	for name, c := range map[string]struct {
		sends    []error // the last one again and again
		answered bool    // are others, meanwhile?
		times    int
		want     error
	}{
		"at once":             {sends: []error{nil}, answered: true, times: 1},
		"no key":              {sends: []error{redis.Nil}, answered: true, times: 1, want: redis.Nil},
		"others are answered": {sends: []error{redis.ErrPoolTimeout, redis.ErrPoolTimeout, nil}, answered: true, times: 3},
		"nobody is":           {sends: []error{redis.ErrPoolTimeout, nil}, times: 1, want: redis.ErrPoolTimeout},
		"forever":             {sends: []error{redis.ErrPoolTimeout}, answered: true, times: maxAttempts, want: redis.ErrPoolTimeout},
		"it may be sent":      {sends: []error{broken, nil}, answered: true, times: 1, want: broken},
		"closed":              {sends: []error{redis.ErrClosed, nil}, answered: true, times: 1, want: redis.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			times, queue := 0, newConnRetrier(time.Second)
			err := queue.send(t.Context(), nil, func(context.Context) error {
				if times++; c.answered {
					queue.answers.Add(1)
				}
				return c.sends[min(times, len(c.sends))-1]
			})
			if times != c.times || !errors.Is(err, c.want) {
				t.Errorf("sent %d times, %v; want %d times, %v", times, err, c.times, c.want)
			}
		})
	}
}

// A command that never got a connection certainly had no effect.
func TestMissingConnectionIsUnavailableNotUnknown(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	o := redisclient.Options(redisclient.Config{Addrs: []string{silent.Addr().String()}, PoolSize: 1, Timeout: 2 * time.Second})
	o.PoolTimeout, o.MaxActiveConns = 10*time.Millisecond, 1
	client := redis.NewUniversalClient(o)
	client.AddHook(redisclient.Around(newConnRetrier(time.Second).send))
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
		t.Run(what, func(t *testing.T) {
			failed := rediserr.Classify(t.Context(), "PING", err)
			if !errors.Is(err, redis.ErrPoolTimeout) || !errors.Is(failed, lock.ErrUnavailable) || errors.Is(failed, lock.ErrOutcomeUnknown) {
				t.Errorf("%v; want ErrUnavailable", failed)
			}
		})
	}
	<-blocked
}
