package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"lockstep/internal/explore"
	"lockstep/internal/explore/graph"
	"lockstep/internal/explore/seat"
	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/service"
)

var (
	errBadRequest   = errors.New("bad request")
	errUnauthorized = errors.New("this needs the header Authorization: Bearer <admin.token>")
	errForbidden    = errors.New("this is not the admin.token")
	errNoToken      = errors.New("nobody may change anything here, only buy: the server listens beyond loopback and has no admin.token; " +
		"start it with one, or with admin.open: true for everybody")
	errForeignHost = errors.New("the server is not called that")
	errForeignPage = errors.New("only programs and the server's own page may buy or change something, no page of another site")
	errNotFound    = errors.New("there is nothing here; try GET /")
	errNotAllowed  = errors.New("this path does not take that method; GET / lists what there is")
)

// codeUnknown is the code of a sale that may have been made: another attempt may buy a second time.
const codeUnknown = "outcome_unknown"

// statusClientClosed is nginx's status for a client that went away; nobody reads it.
const statusClientClosed = 499

// answers gives every error its status and code; the first match counts.
var answers = []struct {
	err    error
	status int
	code   string
}{
	{service.ErrOutcomeUnknown, http.StatusServiceUnavailable, codeUnknown},
	{service.ErrSoldOut, http.StatusConflict, "sold_out"},
	{service.ErrBadStock, http.StatusServiceUnavailable, "bad_stock"},
	{service.ErrRunOver, http.StatusServiceUnavailable, "run_over"},
	{service.ErrNoOrder, http.StatusNotFound, "no_order"},
	{service.ErrInFlight, http.StatusNotFound, "order_in_flight"},
	{lock.ErrLost, http.StatusServiceUnavailable, "lock_lost"},
	{lock.ErrTimeout, http.StatusServiceUnavailable, "lock_timeout"},
	{lock.ErrUnavailable, http.StatusServiceUnavailable, "redis_unavailable"},
	{lock.ErrOutcomeUnknown, http.StatusServiceUnavailable, "redis_unavailable"},
	{lock.ErrCancelled, statusClientClosed, "client_closed_request"},
	{evolution.ErrUnknown, http.StatusBadRequest, "unknown_lock"},
	{strategy.ErrNoNodes, http.StatusBadRequest, "no_nodes"},
	{seat.ErrQuery, http.StatusBadRequest, "bad_request"},
	{explore.ErrText, http.StatusBadRequest, "bad_request"},
	{explore.ErrMalformed, http.StatusBadRequest, "bad_request"},
	{explore.ErrStale, http.StatusConflict, "stale_schedule"},
	{graph.ErrTooLarge, http.StatusServiceUnavailable, "too_large"},
	{seat.ErrBusy, http.StatusServiceUnavailable, "busy"},
	{seat.ErrNotFound, http.StatusNotFound, "not_found"},
	{seat.ErrLeft, statusClientClosed, "client_closed_request"},
	{errBadRequest, http.StatusBadRequest, "bad_request"},
	{errUnauthorized, http.StatusUnauthorized, "unauthorized"},
	{errForbidden, http.StatusForbidden, "forbidden"},
	{errNoToken, http.StatusForbidden, "forbidden"},
	{errForeignHost, http.StatusForbidden, "forbidden"},
	{errForeignPage, http.StatusForbidden, "forbidden"},
	{errNotFound, http.StatusNotFound, "not_found"},
	{errNotAllowed, http.StatusMethodNotAllowed, "method_not_allowed"},
}

// ErrorAnswer is the body of every answer that is not a success.
type ErrorAnswer struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		OrderID string `json:"order_id,omitempty"` // of a sale: the order to look for, should the outcome be unknown
	} `json:"error"`
}

// fail answers with an error.
func (a *API) fail(c *gin.Context, err error) {
	status, code := StatusOf(err)
	a.refuse(c, status, code, err)
}

// refuse answers with an error whose status and code are known.
func (a *API) refuse(c *gin.Context, status int, code string, err error) {
	if status >= http.StatusInternalServerError {
		a.Log.Warn(c.Request.Method+" "+c.Request.URL.Path, "status", status, "code", code, "error", err)
	}
	c.Abort()
	WriteSaleError(c.Writer, status, code, c.GetString(orderID), err)
}

// StatusOf gives the status and the code of an error.
func StatusOf(err error) (status int, code string) {
	for _, answer := range answers {
		if errors.Is(err, answer.err) {
			return answer.status, answer.code
		}
	}
	return http.StatusInternalServerError, "internal"
}

// WriteError answers with an error, and with the headers that go with its status.
func WriteError(w http.ResponseWriter, status int, code string, err error) {
	WriteSaleError(w, status, code, "", err)
}

// WriteSaleError answers a sale as WriteError does; its order's id may be empty.
func WriteSaleError(w http.ResponseWriter, status int, code, orderID string, err error) {
	switch {
	case status == http.StatusServiceUnavailable && code != codeUnknown:
		w.Header().Set("Retry-After", "1")
	case status == http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	var answer ErrorAnswer
	answer.Error.Code, answer.Error.Message, answer.Error.OrderID = code, err.Error(), orderID
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(answer) // the client went away
}

// badRequest says what is wrong with a body, and what is allowed.
func badRequest(wrong error, right string) error {
	return fmt.Errorf("%w: %w; %s", errBadRequest, wrong, right)
}
