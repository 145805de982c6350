// Package answer writes a value, or an error, as an answer over HTTP. It knows no route: the scheduler's seat has it without a shop.
package answer

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// codes has, by status, the codes that an error may have; see lock.WithCode. Those of 499, which is nginx's, nobody reads.
var codes = map[int]string{
	http.StatusBadRequest:   "bad_request unknown_lock",
	http.StatusUnauthorized: "unauthorized",
	http.StatusForbidden:    "forbidden dropped",
	http.StatusNotFound: "not_found no_order order_in_flight no_sale no_burst no_such_replica no_such_node no_room no_participant " +
		"unknown_step",
	http.StatusMethodNotAllowed: "method_not_allowed",
	http.StatusConflict:         "sold_out no_nodes no_command no_rights stale_schedule not_together not_running burst_running lab_running",
	499:                         "client_closed_request",
	http.StatusNotImplemented:   "cannot_pause",
	http.StatusBadGateway:       "bad_gateway",
	http.StatusServiceUnavailable: "outcome_unknown lock_timeout lock_lost redis_unavailable bad_stock bad_data run_over no_replica ending " +
		"busy too_large room_full",
}

// StatusOf returns the status and the code of an error. One without a code is a bug, or nothing that a client could understand.
func StatusOf(err error) (status int, code string) {
	code = lock.CodeOf(err)
	if code == "" && errors.Is(err, lock.ErrCancelled) {
		code = "client_closed_request"
	}
	for status, those := range codes {
		if slices.Contains(strings.Fields(those), code) {
			return status, code
		}
	}
	return http.StatusInternalServerError, "internal"
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
	case status == http.StatusServiceUnavailable && code != lock.CodeOf(service.ErrOutcomeUnknown): // which may buy a second time
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
