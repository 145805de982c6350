package answer

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/service"
)

// The code of an error is that of the first with one that it wraps. A cancellation is its cause's, if that has one.
func TestStatusOf(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{fmt.Errorf("%w: %w", service.ErrOutcomeUnknown, lock.ErrOutcomeUnknown), 503, "outcome_unknown"},
		{fmt.Errorf("EVAL: %w: %w", lock.ErrOutcomeUnknown, errors.New("EOF")), 503, "redis_unavailable"},
		{fmt.Errorf("GET: %w: %w", lock.ErrCancelled, lock.ErrTimeout), 503, "lock_timeout"},
		{fmt.Errorf("GET: %w: %w", lock.ErrCancelled, context.Canceled), 499, "client_closed_request"},
		{fmt.Errorf("%w: lock: %w", lock.WithCode("bad_request", "bad request"), evolution.ErrUnknown), 400, "bad_request"},
		{service.ErrSoldOut, 409, "sold_out"},
		{service.ErrConflict, 500, "internal"},
		{lock.WithCode("unheard_of", "a code that no status was given to"), 500, "internal"},
	} {
		if status, code := StatusOf(c.err); status != c.status || code != c.code {
			t.Errorf("%v: %d %s; want %d %s", c.err, status, code, c.status, c.code)
		}
	}
}
