package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"lockstep/internal/lock"
	"lockstep/internal/shop/answer"
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
	errNotFound = lock.WithCode("not_found", "there is nothing here; try GET /")
	errAbsent   = lock.WithCode("not_found", "this server has no such thing: /replicas is of lockstep cluster, "+
		"/nodes of a server whose masters for redlock are embedded")
	errNotAllowed = lock.WithCode("method_not_allowed", "this path does not take that method; GET / lists what there is")
)

// methodError is errNotAllowed, with the methods that the path takes.
type methodError struct{ allowed []string }

func (e *methodError) Error() string { return errNotAllowed.Error() }
func (e *methodError) Unwrap() error { return errNotAllowed }

// setAllow sets the header that goes with errNotAllowed.
func setAllow(header http.Header, err error) {
	var method *methodError
	if errors.As(err, &method) {
		header.Set("Allow", strings.Join(method.allowed, ", "))
	}
}

// fail answers with an error.
func (a *API) fail(c *gin.Context, err error) {
	setAllow(c.Writer.Header(), err)
	if status, code := answer.StatusOf(err); status >= http.StatusInternalServerError {
		a.Log.Warn(c.Request.Method+" "+c.Request.URL.Path, "status", status, "code", code, "error", err)
	}
	c.Abort()
	answer.WriteSaleError(c.Writer, c.GetString(orderKey), err)
}

// Answer answers with a value, or with an error.
func Answer(w http.ResponseWriter, value any, err error) {
	if err != nil {
		setAllow(w.Header(), err)
		answer.WriteSaleError(w, "", err)
		return
	}
	answer.Write(w, http.StatusOK, value)
}

// ErrorAnswer is the body of every answer that is not a success.
type ErrorAnswer = answer.Failure

// BadRequest says what is wrong with a request, and what is allowed.
func BadRequest(wrong error, right string) error {
	return fmt.Errorf("%w: %w; %s", errBadRequest, wrong, right)
}
