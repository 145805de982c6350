package live

import (
	"strings"

	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/watch/witness"
)

// code is what HTTP calls an error of a sale.
type code struct {
	err  error
	code string
}

// codes are in the order of the table of package api: the first whose text an error contains counts.
func codes() []code {
	return []code{
		{service.ErrOutcomeUnknown, "outcome_unknown"},
		{service.ErrBadStock, "bad_stock"},
		{service.ErrRunOver, "run_over"},
		{lock.ErrLost, "lock_lost"},
		{service.ErrSoldOut, "sold_out"},
		{lock.ErrTimeout, "lock_timeout"},
		{lock.ErrUnavailable, "redis_unavailable"},
		{lock.ErrOutcomeUnknown, "redis_unavailable"},
		{lock.ErrCancelled, "client_closed_request"},
	}
}

// endOf gives what a sale's lane ends with: "sold", "died", or the code of an error; "" while it goes on.
func endOf(s *witness.Sale) string {
	switch {
	case s.Ended.IsZero():
		return ""
	case s.Died:
		return "died"
	case s.Error == "":
		return "sold"
	}
	for _, c := range codes() {
		if strings.Contains(s.Error, c.err.Error()) {
			return c.code
		}
	}
	return "internal"
}
