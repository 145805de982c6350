// Package answer writes a value, or an error, as an answer over HTTP. It knows no route: the scheduler's seat has it without a shop.
package answer

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"lockstep/internal/lock"
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
	"no_nodes":           http.StatusConflict,
	"no_command":         http.StatusConflict,
	"no_rights":          http.StatusConflict,
	"unauthorized":       http.StatusUnauthorized,
	"forbidden":          http.StatusForbidden,
	"not_found":          http.StatusNotFound,
	"no_order":           http.StatusNotFound,
	"order_in_flight":    http.StatusNotFound,
	"no_room":            http.StatusNotFound,
	"no_participant":     http.StatusNotFound,
	"dropped":            http.StatusForbidden,
	"method_not_allowed": http.StatusMethodNotAllowed,
	"sold_out":           http.StatusConflict,
	"stale_schedule":     http.StatusConflict,
	"not_together":       http.StatusConflict,
	codeGone:             statusGone,
	codeUnknown:          http.StatusServiceUnavailable,
	"lock_timeout":       http.StatusServiceUnavailable,
	"lock_lost":          http.StatusServiceUnavailable,
	"redis_unavailable":  http.StatusServiceUnavailable,
	"bad_stock":          http.StatusServiceUnavailable,
	"bad_data":           http.StatusServiceUnavailable,
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

// Failure is the body of every answer that is not a success.
type Failure struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		OrderID string `json:"order_id,omitempty"` // of a sale: the order to look for, should the outcome be unknown
	} `json:"error"`
}

// Write answers with JSON.
func Write(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // the client went away
}

// Error answers with an error, and with the headers that go with it.
func Error(w http.ResponseWriter, err error) {
	status, code := StatusOf(err)
	var failure Failure
	failure.Error.Code, failure.Error.Message = code, err.Error()
	if sale, is := errors.AsType[*saleError](err); is {
		failure.Error.OrderID = sale.orderID
	}
	if other, is := errors.AsType[*NotAllowed](err); is {
		w.Header().Set("Allow", strings.Join(other.Methods, ", "))
	}
	switch {
	case status == http.StatusServiceUnavailable && code != codeUnknown:
		w.Header().Set("Retry-After", "1")
	case status == http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	Write(w, status, failure)
}

// OfSale returns the error of a sale, with the id of its order.
func OfSale(orderID string, err error) error { return &saleError{orderID, err} }

type saleError struct {
	orderID string
	err     error
}

func (e *saleError) Error() string { return e.err.Error() }
func (e *saleError) Unwrap() error { return e.err }

// NotAllowed is the error of a path that has other methods.
type NotAllowed struct{ Methods []string }

var errNotAllowed = lock.WithCode("method_not_allowed", "this path does not take that method; GET / lists what there is")

func (*NotAllowed) Error() string { return errNotAllowed.Error() }
func (*NotAllowed) Unwrap() error { return errNotAllowed }
