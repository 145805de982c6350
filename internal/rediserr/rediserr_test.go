package rediserr_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/rediserr"
)

// refused is an error that Redis itself answered.
type refused struct{}

func (refused) Error() string { return "OOM command not allowed" }
func (refused) RedisError()   {}

func TestClassify(t *testing.T) {
	ended, end := context.WithCancelCause(t.Context())
	end(lock.ErrTimeout)
	for name, c := range map[string]struct {
		ctx       context.Context
		err, want error
	}{
		"refused by Redis":        {t.Context(), refused{}, lock.ErrUnavailable},
		"not dialled":             {t.Context(), &net.OpError{Op: "dial", Err: io.EOF}, lock.ErrUnavailable},
		"no connection":           {t.Context(), redis.ErrPoolTimeout, lock.ErrUnavailable},
		"too many connections":    {t.Context(), redis.ErrPoolExhausted, lock.ErrUnavailable},
		"client closed":           {t.Context(), redis.ErrClosed, lock.ErrUnavailable},
		"known not to be sent":    {t.Context(), lock.ErrUnavailable, lock.ErrUnavailable},
		"no reply":                {t.Context(), io.EOF, lock.ErrOutcomeUnknown},
		"reply too late":          {t.Context(), &net.OpError{Op: "read", Err: context.DeadlineExceeded}, lock.ErrOutcomeUnknown},
		"ended before":            {ended, context.Canceled, lock.ErrCancelled},
		"ended after it was sent": {ended, io.EOF, lock.ErrOutcomeUnknown},
	} {
		got := rediserr.Classify(c.ctx, "SET", c.err)
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
