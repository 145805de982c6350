package api

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/service"
)

var (
	errBadRequest   = errors.New("bad request")
	errUnauthorized = errors.New("this needs the header Authorization: Bearer <admin.token>, since the server listens beyond loopback")
	errForbidden    = errors.New("this is not the admin.token")
	errNoToken      = errors.New("PUT and DELETE are off: the server listens beyond loopback and has no admin.token; start it with one")
	errNotFound     = errors.New("there is nothing here; try GET /")
	errNotAllowed   = errors.New("this path does not take that method; GET / lists what there is")
)

// statusClientClosed is what nginx says of a client that went away; nobody reads it.
const statusClientClosed = 499

// answers gives every error its status and code; the first that matches counts.
var answers = []struct {
	err    error
	status int
	code   string
}{
	{service.ErrSoldOut, http.StatusConflict, "sold_out"},
	{service.ErrBadStock, http.StatusBadRequest, "bad_stock"},
	{lock.ErrLost, http.StatusServiceUnavailable, "lock_lost"},
	{lock.ErrTimeout, http.StatusServiceUnavailable, "lock_timeout"},
	{lock.ErrUnavailable, http.StatusServiceUnavailable, "redis_unavailable"},
	{lock.ErrOutcomeUnknown, http.StatusServiceUnavailable, "redis_unavailable"},
	{lock.ErrCancelled, statusClientClosed, "client_closed_request"},
	{evolution.ErrUnknown, http.StatusBadRequest, "unknown_lock"},
	{errBadRequest, http.StatusBadRequest, "bad_request"},
	{errUnauthorized, http.StatusUnauthorized, "unauthorized"},
	{errForbidden, http.StatusForbidden, "forbidden"},
	{errNoToken, http.StatusForbidden, "forbidden"},
	{errNotFound, http.StatusNotFound, "not_found"},
	{errNotAllowed, http.StatusMethodNotAllowed, "method_not_allowed"},
}

// ErrorAnswer is the body of every answer that is not a success.
type ErrorAnswer struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (a *API) fail(c *gin.Context, err error) {
	status, code := http.StatusInternalServerError, "internal"
	for _, answer := range answers {
		if errors.Is(err, answer.err) {
			status, code = answer.status, answer.code
			break
		}
	}
	if status == http.StatusServiceUnavailable {
		c.Header("Retry-After", "1")
	}
	if status >= http.StatusInternalServerError {
		a.Log.Warn(c.Request.Method+" "+c.Request.URL.Path, "status", status, "code", code, "error", err)
	}
	var answer ErrorAnswer
	answer.Error.Code, answer.Error.Message = code, err.Error()
	c.Abort()
	c.PureJSON(status, answer)
}

// badRequest says what was wrong with a body, and what is right.
func badRequest(wrong error, right string) error {
	return fmt.Errorf("%w: %w; %s", errBadRequest, wrong, right)
}
