package api

import (
	"errors"
	"fmt"

	"lockstep/internal/api/answer"
	"lockstep/internal/lock"
)

var (
	errBadRequest   = lock.WithCode("bad_request", "bad request")
	errUnauthorized = lock.WithCode("unauthorized", "this needs the header Authorization: Bearer <admin.token>")
	errForbidden    = lock.WithCode("forbidden", "this is not the admin.token")
	errNoToken      = lock.WithCode("forbidden", "nobody may change anything here, only buy: the server listens beyond loopback and has no "+
		"admin.token; start it with one, or with admin.open: true for everybody")
	errForwarded = lock.WithCode("forbidden", "without an admin.token only this machine may change anything, and a proxy has forwarded "+
		"this request: start the server with an admin.token, or with admin.open: true for everybody")
	errOtherSite   = errors.New("cross-origin request detected from Sec-Fetch-Site header")
	errOtherOrigin = errors.New("cross-origin request detected, and/or browser is out of date: " +
		"Sec-Fetch-Site is missing, and Origin does not match Host")
	errForeignHost = lock.WithCode("forbidden", "this is not a name of the server")
	errForeignPage = lock.WithCode("forbidden",
		"only programs and the server's own page may buy or change something, not a page of another site")
)

// ErrorAnswer is the body of every answer that is not a success.
type ErrorAnswer = answer.Failure

// BadRequest says what is wrong with a request, and what is allowed.
func BadRequest(wrong error, right string) error {
	return fmt.Errorf("%w: %w; %s", errBadRequest, wrong, right)
}
