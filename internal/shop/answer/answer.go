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
	http.StatusConflict:         "sold_out no_nodes no_command no_rights stale_schedule not_together not_running burst_running",
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

// WriteError answers with an error of this status and code.
func WriteError(w http.ResponseWriter, status int, code string, err error) {
	writeError(w, status, code, "", err)
}

// WriteSaleError answers with the error of a sale; its order's id may be empty.
func WriteSaleError(w http.ResponseWriter, orderID string, err error) {
	status, code := StatusOf(err)
	writeError(w, status, code, orderID, err)
}

// writeError answers with an error, and with the headers that go with its status.
func writeError(w http.ResponseWriter, status int, code, orderID string, err error) {
	switch {
	case status == http.StatusServiceUnavailable && code != lock.CodeOf(service.ErrOutcomeUnknown): // which may buy a second time
		w.Header().Set("Retry-After", "1")
	case status == http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	var failure Failure
	failure.Error.Code, failure.Error.Message, failure.Error.OrderID = code, err.Error(), orderID
	Write(w, status, failure)
}
