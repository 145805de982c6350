package live

import (
	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// sold is what a lane ends with whose sale was made.
const sold = "sold"

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
