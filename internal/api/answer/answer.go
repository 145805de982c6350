// Package answer writes a value or an error as an HTTP response. It depends on no routes, so the scheduler's seat can use it without
// a shop. Begin with Write and Error.
package answer

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// statusClientClosedRequest is nginx's status for a request that its client has abandoned. Nobody reads the response.
const statusClientClosedRequest = 499

// statuses maps each error code (see lock.WithCode) to the HTTP status of its response.
var statuses = map[string]int{
	"bad_request":           http.StatusBadRequest,
	"unknown_lock":          http.StatusBadRequest,
	"unauthorized":          http.StatusUnauthorized,
	"forbidden":             http.StatusForbidden,
	"dropped":               http.StatusForbidden,
	"not_found":             http.StatusNotFound,
	"no_order":              http.StatusNotFound,
	"order_in_flight":       http.StatusNotFound,
	"no_sale":               http.StatusNotFound,
	"no_burst":              http.StatusNotFound,
	"no_such_replica":       http.StatusNotFound,
	"no_such_node":          http.StatusNotFound,
	"no_room":               http.StatusNotFound,
	"no_participant":        http.StatusNotFound,
	"unknown_step":          http.StatusNotFound,
	"method_not_allowed":    http.StatusMethodNotAllowed,
	"sold_out":              http.StatusConflict,
	"not_holder":            http.StatusConflict,
	"no_nodes":              http.StatusConflict,
	"no_command":            http.StatusConflict,
	"no_rights":             http.StatusConflict,
	"stale_schedule":        http.StatusConflict,
	"not_together":          http.StatusConflict,
	"not_running":           http.StatusConflict,
	"burst_running":         http.StatusConflict,
	"lab_running":           http.StatusConflict,
	"client_closed_request": statusClientClosedRequest,
	"cannot_pause":          http.StatusNotImplemented,
	"bad_gateway":           http.StatusBadGateway,
	"outcome_unknown":       http.StatusServiceUnavailable,
	"lock_timeout":          http.StatusServiceUnavailable,
	"lock_lost":             http.StatusServiceUnavailable,
	"redis_unavailable":     http.StatusServiceUnavailable,
	"bad_stock":             http.StatusServiceUnavailable,
	"bad_data":              http.StatusServiceUnavailable,
	"run_over":              http.StatusServiceUnavailable,
	"no_replica":            http.StatusServiceUnavailable,
	"ending":                http.StatusServiceUnavailable,
	"busy":                  http.StatusServiceUnavailable,
	"too_large":             http.StatusServiceUnavailable,
	"room_full":             http.StatusServiceUnavailable,
}

// StatusOf returns the HTTP status and the code of an error. An error without a known code gets 500 and "internal": it is a bug, or
// nothing that a client could act on.
func StatusOf(err error) (status int, code string) {
	code = lock.CodeOf(err)
	if code == "" && errors.Is(err, lock.ErrCancelled) {
		code = "client_closed_request"
	}
	if status, ok := statuses[code]; ok {
		return status, code
	}
	return http.StatusInternalServerError, "internal"
}

// Failure is the body of every answer that is not a success.
type Failure struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		OrderID string `json:"order_id,omitempty"` // order to look up if a sale's outcome is unknown; empty: not a sale
	} `json:"error"`
}

// Write writes a response with the given status and the value as JSON.
func Write(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // Encoding fails only if the client has gone away.
}

// Error writes err as a response, with the headers that its status requires: Allow, Retry-After or WWW-Authenticate.
func Error(w http.ResponseWriter, err error) {
	status, code := StatusOf(err)
	var failure Failure
	failure.Error.Code, failure.Error.Message = code, err.Error()
	if sale, ok := errors.AsType[*saleError](err); ok {
		failure.Error.OrderID = sale.orderID
	}
	if notAllowed, ok := errors.AsType[*NotAllowed](err); ok {
		w.Header().Set("Allow", strings.Join(notAllowed.Methods, ", "))
	}
	switch {
	// A retry after an unknown outcome could buy a second time.
	case status == http.StatusServiceUnavailable && code != lock.CodeOf(service.ErrOutcomeUnknown):
		w.Header().Set("Retry-After", "1")
	case status == http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	Write(w, status, failure)
}

// WithOrderID adds the id of a sale's order to err, for the response's order_id.
func WithOrderID(orderID string, err error) error { return &saleError{orderID, err} }

// saleError is the error of a sale, with the id of its order.
type saleError struct {
	orderID string
	err     error
}

func (e *saleError) Error() string { return e.err.Error() }
func (e *saleError) Unwrap() error { return e.err }

// NotAllowed is the error for a known path requested with a method that it does not support.
type NotAllowed struct {
	Methods []string // supported methods, for the header Allow
}

// errNotAllowed is the error that NotAllowed wraps.
var errNotAllowed = lock.WithCode("method_not_allowed", "this path does not support that method; GET / lists all paths")

func (*NotAllowed) Error() string { return errNotAllowed.Error() }
func (*NotAllowed) Unwrap() error { return errNotAllowed }
