package live

import (
	"strings"

	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/shop/api"
)

// sold is what a lane ends with whose sale was made.
const sold = "sold"

// codeOf returns what HTTP calls the error that ended a sale, of which an event has only the text. The errors that say more come first:
// they contain others.
func codeOf(text string) string {
	if text == "" {
		return sold
	}
	for _, err := range []error{
		service.ErrOutcomeUnknown, service.ErrBadStock, service.ErrRunOver, lock.ErrLost, service.ErrSoldOut,
		lock.ErrTimeout, lock.ErrUnavailable, lock.ErrOutcomeUnknown, lock.ErrCancelled,
	} {
		if strings.Contains(text, err.Error()) {
			_, code := api.StatusOf(err)
			return code
		}
	}
	return "internal"
}
