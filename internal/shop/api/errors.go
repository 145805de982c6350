package api

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"lockstep/internal/lock"
)

var (
	errBadRequest   = lock.WithCode("bad_request", "bad request")
	errUnauthorized = lock.WithCode("unauthorized", "this needs the header Authorization: Bearer <admin.token>")
	errForbidden    = lock.WithCode("forbidden", "this is not the admin.token")
	errNoToken      = lock.WithCode("forbidden", "nobody may change anything here, only buy: the server listens beyond loopback and has no "+
		"admin.token; start it with one, or with admin.open: true for everybody")
	errForeignHost = lock.WithCode("forbidden", "the server is not called that")
	errForeignPage = lock.WithCode("forbidden",
		"only programs and the server's own page may buy or change something, no page of another site")
	errNotFound   = lock.WithCode("not_found", "there is nothing here; try GET /")
	errNotAllowed = lock.WithCode("method_not_allowed", "this path does not take that method; GET / lists what there is")
)

const (
	// codeUnknown is the code of a sale that may have been made: another attempt may buy a second time.
	codeUnknown = "outcome_unknown"
	// codeGone is the code of a client that went away; nobody reads it. Its status is nginx's.
	codeGone   = "client_closed_request"
	statusGone = 499
)

// statuses has the status of each code that an error may have; see lock.WithCode.
var statuses = map[string]int{
	"bad_request":        http.StatusBadRequest,
	"unknown_lock":       http.StatusBadRequest,
	"no_nodes":           http.StatusBadRequest,
	"no_command":         http.StatusBadRequest,
	"unauthorized":       http.StatusUnauthorized,
	"forbidden":          http.StatusForbidden,
	"not_found":          http.StatusNotFound,
	"no_order":           http.StatusNotFound,
	"order_in_flight":    http.StatusNotFound,
	"no_room":            http.StatusNotFound,
	"method_not_allowed": http.StatusMethodNotAllowed,
	"sold_out":           http.StatusConflict,
	"stale_schedule":     http.StatusConflict,
	codeGone:             statusGone,
	codeUnknown:          http.StatusServiceUnavailable,
	"lock_timeout":       http.StatusServiceUnavailable,
	"lock_lost":          http.StatusServiceUnavailable,
	"redis_unavailable":  http.StatusServiceUnavailable,
	"bad_stock":          http.StatusServiceUnavailable,
	"run_over":           http.StatusServiceUnavailable,
	"room_full":          http.StatusServiceUnavailable,
	"unknown_step":       http.StatusNotFound,
	"too_large":          http.StatusServiceUnavailable,
	"busy":               http.StatusServiceUnavailable,
	"no_such_replica":    http.StatusNotFound,
	"not_running":        http.StatusConflict,
	"cannot_pause":       http.StatusNotImplemented,
	"bad_gateway":        http.StatusBadGateway,
	"no_replica":         http.StatusServiceUnavailable,
	"ending":             http.StatusServiceUnavailable,
	"no_sale":            http.StatusNotFound,
	"no_burst":           http.StatusNotFound,
	"no_such_node":       http.StatusNotFound,
	"burst_running":      http.StatusConflict,
}

// StatusOf returns the status and the code of an error.
func StatusOf(err error) (status int, code string) {
	code = lock.CodeOf(err)
	if code == "" && errors.Is(err, lock.ErrCancelled) {
		code = codeGone
	}
	status, known := statuses[code]
	if !known { // a bug, or nothing that a client could understand
		return http.StatusInternalServerError, "internal"
	}
	return status, code
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
	if status, code := StatusOf(err); status >= http.StatusInternalServerError {
		a.Log.Warn(c.Request.Method+" "+c.Request.URL.Path, "status", status, "code", code, "error", err)
	}
	c.Abort()
	WriteSaleError(c.Writer, c.GetString(orderKey), err)
}

// Answer answers with a value, or with an error.
func Answer(w http.ResponseWriter, value any, err error) {
	if err != nil {
		WriteSaleError(w, "", err)
		return
	}
	Write(w, http.StatusOK, value)
}

// WriteSaleError answers with the error of a sale; its order's id may be empty.
func WriteSaleError(w http.ResponseWriter, orderID string, err error) {
	status, code := StatusOf(err)
	writeError(w, status, code, orderID, err)
}

// WriteError answers with an error that has no code of its own.
func WriteError(w http.ResponseWriter, status int, code string, err error) {
	writeError(w, status, code, "", err)
}

// writeError answers with an error, and with the headers that go with its status.
func writeError(w http.ResponseWriter, status int, code, orderID string, err error) {
	switch {
	case status == http.StatusServiceUnavailable && code != codeUnknown:
		w.Header().Set("Retry-After", "1")
	case status == http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	var answer ErrorAnswer
	answer.Error.Code, answer.Error.Message, answer.Error.OrderID = code, err.Error(), orderID
	Write(w, status, answer)
}

// BadRequest says what is wrong with a body, and what is allowed.
func BadRequest(wrong error, right string) error {
	return fmt.Errorf("%w: %w; %s", errBadRequest, wrong, right)
}
