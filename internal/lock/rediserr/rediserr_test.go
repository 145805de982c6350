package rediserr_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
)

// refused is an error that Redis itself answered.
type refused struct{}

func (refused) Error() string { return "OOM command not allowed" }
func (refused) RedisError()   {}

func TestClassify(t *testing.T) {
	ended, end := context.WithCancelCause(t.Context())
	end(lock.ErrTimeout)
	for name, c := range map[string]struct {
		over      bool // the context has ended
		err, want error
	}{
		"refused by Redis":        {false, refused{}, lock.ErrUnavailable},
		"not dialled":             {false, &net.OpError{Op: "dial", Err: io.EOF}, lock.ErrUnavailable},
		"no connection":           {false, redis.ErrPoolTimeout, lock.ErrUnavailable},
		"too many connections":    {false, redis.ErrPoolExhausted, lock.ErrUnavailable},
		"client closed":           {false, redis.ErrClosed, lock.ErrUnavailable},
		"known not to be sent":    {false, lock.ErrUnavailable, lock.ErrUnavailable},
		"no reply":                {false, io.EOF, lock.ErrOutcomeUnknown},
		"reply too late":          {false, &net.OpError{Op: "read", Err: context.DeadlineExceeded}, lock.ErrOutcomeUnknown},
		"ended before":            {true, context.Canceled, lock.ErrCancelled},
		"ended after it was sent": {true, io.EOF, lock.ErrOutcomeUnknown},
	} {
		ctx := t.Context()
		if c.over {
			ctx = ended
		}
		got := rediserr.Classify(ctx, "SET", c.err)
		for _, class := range []error{lock.ErrCancelled, lock.ErrUnavailable, lock.ErrOutcomeUnknown} {
			if errors.Is(got, class) != errors.Is(c.want, class) {
				t.Errorf("%s: %v; want %v alone", name, got, c.want)
			}
		}
		if !errors.Is(got, c.err) && !errors.Is(c.want, lock.ErrCancelled) { // that wraps the cause
			t.Errorf("%s: %v does not wrap %v", name, got, c.err)
		}
	}
}
