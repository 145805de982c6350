package load

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// Limits of an answer, in bytes.
const (
	maxBody    = 1 << 20  // largest body
	maxHeaders = 64 << 10 // largest headers
)

// NewClient returns a client that keeps up to connections idle connections per host. timeout is the time limit for a complete answer; 0:
// none. The client uses the proxy of the environment, as http.ProxyFromEnvironment does. It does not follow redirects, so that a token
// goes to no other host.
func NewClient(timeout time.Duration, connections int) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: Dialer(), MaxIdleConnsPerHost: connections, MaxResponseHeaderBytes: maxHeaders,
			OnProxyConnectResponse: proxyRefusal,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// call sends a request to the first target, and fails unless the answer is a success.
func (b Burst) call(ctx context.Context, client *http.Client, method, path string, body any) ([]byte, error) {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	address := b.Targets[0] + path
	header := http.Header{}
	if b.Token != "" {
		header.Set("Authorization", "Bearer "+b.Token)
	}
	answer, text, err := send(ctx, client, method, address, header, payload)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, DisplayURL(address), err)
	}
	if status := answer.Status; status != http.StatusOK {
		problem := parseProblem(status, answer.location, text)
		hint := ""
		if status == http.StatusUnauthorized || status == http.StatusForbidden && b.Token != "" {
			hint = "; pass the server's token in LOCKSTEP_ADMIN_TOKEN or with --admin.token_file"
		}
		return nil, fmt.Errorf("%w %s %s: %d %s: %s%s", ErrRefused, method, DisplayURL(address), status, problem.Code, problem.Message, hint)
	}
	return text, nil
}

// Answer is the server's answer to a request, with the fields that lockstep's own commands need.
type Answer struct {
	Status   int     `json:"-"`            // HTTP status
	Replica  string  `json:"-"`            // replica that answered; empty: the reverse proxy
	Replayed bool    `json:"-"`            // the server repeated its answer to an earlier request with the same key
	OrderID  string  `json:"order_id"`     // id of the order that was made; empty: none was
	RunID    string  `json:"run_id"`       // run of the sale
	Before   int64   `json:"stock_before"` // stock before the sale
	After    int64   `json:"stock_after"`  // stock after the sale
	Fence    int64   `json:"fence"`        // fencing token; 0: none
	Error    Problem `json:"error"`        // zero: the answer is a success

	location string   // target of a redirect
	proxy    *url.URL // proxy that the request went through; nil: none
}

// Problem is the error in an answer.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	OrderID string `json:"order_id"` // id of the order that was not made
}

// Order returns the id of the order that the answer is about; empty if it names none.
func (a Answer) Order() string { return cmp.Or(a.OrderID, a.Error.OrderID) }

// errTooLong is returned for an answer with a body longer than maxBody.
var errTooLong = fmt.Errorf("the answer is longer than %d bytes", maxBody)

// send sends a request, and returns the answer's status and headers in answer, and its body as text. If the body is incomplete or too long,
// it returns the answer with an error. Its errors are RequestErrors, unless the request itself is invalid.
func send(
	ctx context.Context, client *http.Client, method, address string, header http.Header, body []byte,
) (answer Answer, text []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return answer, nil, err
	}
	maps.Copy(request.Header, header)
	proxy, err := proxyOf(client, request)
	if err != nil {
		return answer, nil, &RequestError{Err: errInvalidProxy} // err may show the proxy's password
	}
	response, err := client.Do(request)
	if err != nil {
		return answer, nil, &RequestError{Err: err, proxy: proxy}
	}
	defer response.Body.Close()
	answer.Status, answer.Replica = response.StatusCode, response.Header.Get("X-Lockstep-Replica")
	answer.Replayed = response.Header.Get("Idempotency-Replayed") == "true"
	answer.location, answer.proxy = response.Header.Get("Location"), proxy
	if text, err = io.ReadAll(io.LimitReader(response.Body, maxBody+1)); err == nil && len(text) > maxBody {
		err = errTooLong
	}
	if err != nil {
		err = &RequestError{Err: err, proxy: proxy}
	}
	return answer, text, err
}

// errorCodePattern matches an error code of lockstep.
var errorCodePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// foreignErrorCode stands for the code in an answer that is not an error of lockstep.
const foreignErrorCode = "not an error of lockstep"

// parseProblem returns the error in an answer, with its message quoted. For another answer it returns a problem that shows the target of
// the redirect, or the body.
func parseProblem(status int, location string, body []byte) Problem {
	var answer Answer
	switch err := decodeObject(body, &answer); {
	case err == nil && errorCodePattern.MatchString(answer.Error.Code):
		answer.Error.Message = Quote(answer.Error.Message)
		return answer.Error
	case status >= 300 && status < 400 && location != "":
		return Problem{Code: "redirect", Message: "to " + Quote(DisplayURL(location)) + ", which is not followed"}
	default:
		return Problem{Code: foreignErrorCode, Message: Quote(string(body))}
	}
}

// errNotObject is returned for a text that is not a JSON object.
var errNotObject = errors.New("not a JSON object")

// decodeObject decodes a text that is one JSON object.
func decodeObject(text []byte, into any) error {
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return errNotObject
	}
	return json.Unmarshal(text, into)
}

// Send sends a request with a body to a server. It fails if there is no answer, or if the answer is not a JSON object.
func Send(ctx context.Context, client *http.Client, method, url, body string) (Answer, error) {
	return sendJSON(ctx, client, method, url, nil, body)
}

// Buy sends a request to buy to the server at the base URL target, as Send does. An empty Idempotency-Key is not sent.
func Buy(ctx context.Context, client *http.Client, target, key string) (Answer, error) {
	return sendJSON(ctx, client, http.MethodPost, target+salePath, keyHeader(key), "")
}

// salePath is the path of requests to buy.
const salePath = "/inventory/sale"

// keyHeader returns a header with an Idempotency-Key; nil if key is empty.
func keyHeader(key string) http.Header {
	if key == "" {
		return nil
	}
	return http.Header{"Idempotency-Key": {strconv.Quote(key)}}
}

// sendJSON sends a request, and decodes the answer, which must be a JSON object.
func sendJSON(ctx context.Context, client *http.Client, method, url string, header http.Header, body string) (Answer, error) {
	answer, text, err := send(ctx, client, method, url, header, []byte(body))
	if err != nil {
		return Answer{Status: answer.Status}, err
	}
	if err := decodeObject(text, &answer); err != nil {
		return answer, fmt.Errorf("status %d, and the body is not a JSON object: %s", answer.Status, Quote(string(text)))
	}
	return answer, nil
}

// MayHaveSold reports whether a sale may have been made although its answer, with this status and error code, was not a receipt.
func MayHaveSold(status int, code string) bool {
	switch status {
	case http.StatusInternalServerError: // a bug, perhaps after the write
		return true
	case http.StatusBadGateway, http.StatusGatewayTimeout: // a proxy that had forwarded the request
		return true
	default:
		return code == lock.CodeOf(service.ErrOutcomeUnknown) || status < 400
	}
}

// FailureReason returns a short reason for a missing or invalid answer; the same cause gives the same text. It returns timeout if the
// answer did not come in time.
func FailureReason(err error, timeout string) string {
	var failed *RequestError
	switch {
	case !errors.As(err, &failed):
		return "invalid answer: " + err.Error()
	case isTimeout(err):
		return timeout
	default:
		return "no answer: " + failed.Error()
	}
}
