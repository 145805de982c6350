package load

import (
	"bytes"
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

// The bounds of what a server may send.
const (
	maxBody    = 1 << 20 // bytes
	maxHeaders = 64 << 10
)

// NewClient returns a client that waits so long for a whole answer, 0: without an end, and keeps so many connections. It asks by way of the
// environment's proxy, as Go's programs do (loopback never), and follows no redirect: a token goes nowhere else.
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
			hint = "; give the server's token by --admin.token"
		}
		return nil, fmt.Errorf("%w %s %s: %d %s: %s%s", ErrRefused, method, DisplayURL(address), status, problem.Code, problem.Message, hint)
	}
	return text, nil
}

// Answer is what a shop answers, as far as somebody heeds it.
type Answer struct {
	Status  int     `json:"-"`
	Replica string  `json:"-"`        // that answered; "" if it was the front
	Replay  bool    `json:"-"`        // the sale's key had bought before
	OrderID string  `json:"order_id"` // of a sale
	RunID   string  `json:"run_id"`
	Before  int64   `json:"stock_before"`
	After   int64   `json:"stock_after"`
	Fence   int64   `json:"fence"`
	Error   Problem `json:"error"`

	location string   // where a redirect leads
	proxy    *url.URL // by way of which it was asked; nil: of none
}

// Problem is the error of an answer.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	OrderID string `json:"order_id"` // of a sale
}

// Order returns the id of the order that it is about; "" if it does not say.
func (a Answer) Order() string { return a.OrderID + a.Error.OrderID } // one of the two

// errTooLong means that an answer goes on for too long.
var errTooLong = fmt.Errorf("the answer is longer than %d bytes", maxBody)

// send sends a request with this header, and reads the answer's status, who sent it, and its body. An answer whose body breaks off, or is too
// long, comes with an error. Errors are FailedError.
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
		return answer, nil, &RequestError{Err: errInvalidProxy}
	}
	response, err := client.Do(request)
	if err != nil {
		return answer, nil, &RequestError{Err: err, proxy: proxy}
	}
	defer response.Body.Close()
	answer.Status, answer.Replica = response.StatusCode, response.Header.Get("X-Lockstep-Replica")
	answer.Replay = response.Header.Get("Idempotency-Replayed") == "true"
	answer.location, answer.proxy = response.Header.Get("Location"), proxy
	if text, err = io.ReadAll(io.LimitReader(response.Body, maxBody+1)); err == nil && len(text) > maxBody {
		err = errTooLong
	}
	if err != nil {
		err = &RequestError{Err: err, proxy: proxy}
	}
	return answer, text, err
}

// errorCodePattern is what a code of an error looks like.
var errorCodePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// foreignErrorCode stands for the code of an error that is not of the form of lockstep's.
const foreignErrorCode = "not lockstep's error"

// parseProblem returns the error that an answer tells, with its message in quotes, or one that shows the body, or where a redirect leads.
func parseProblem(status int, location string, body []byte) Problem {
	var answer Answer
	switch err := decodeObject(body, &answer); {
	case err == nil && errorCodePattern.MatchString(answer.Error.Code):
		answer.Error.Message = Quote(answer.Error.Message)
		return answer.Error
	case status >= 300 && status < 400 && location != "":
		return Problem{Code: "a redirect", Message: "it leads to " + Quote(DisplayURL(location)) + ", and is not followed"}
	default:
		return Problem{Code: foreignErrorCode, Message: Quote(string(body))}
	}
}

// errNotObject means that a text is not one JSON object.
var errNotObject = errors.New("not a JSON object")

// decodeObject reads a text that is one JSON object.
func decodeObject(text []byte, into any) error {
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return errNotObject
	}
	return json.Unmarshal(text, into)
}

// Send sends a request to a shop. It fails if there is no answer, or none that is a JSON object.
func Send(ctx context.Context, client *http.Client, method, url, body string) (Answer, error) {
	return sendJSON(ctx, client, method, url, nil, body)
}

// Buy asks a shop at a base URL for a sale, as Ask does; with an Idempotency-Key, unless that is empty.
func Buy(ctx context.Context, client *http.Client, target, key string) (Answer, error) {
	return sendJSON(ctx, client, http.MethodPost, target+salePath, keyHeader(key), "")
}

const salePath = "/inventory/sale"

// keyHeader returns the header that has an Idempotency-Key; empty: none.
func keyHeader(key string) http.Header {
	if key == "" {
		return nil
	}
	return http.Header{"Idempotency-Key": {strconv.Quote(key)}}
}

func sendJSON(ctx context.Context, client *http.Client, method, url string, header http.Header, body string) (Answer, error) {
	answer, text, err := send(ctx, client, method, url, header, []byte(body))
	if err != nil {
		return Answer{Status: answer.Status}, err
	}
	if err := decodeObject(text, &answer); err != nil {
		return answer, fmt.Errorf("%d, and not JSON: %s", answer.Status, Quote(string(text)))
	}
	return answer, nil
}

// MayHaveSold reports whether a sale may have been made that was answered by a status, 200 aside, and an error's code.
func MayHaveSold(status int, code string) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout: // a bug after the write; a front, or another proxy
		return true
	default:
		return code == lock.CodeOf(service.ErrOutcomeUnknown) || status < 400
	}
}

// FailureReason says briefly why there was no answer, always in the same words for the same reason; late are those for one that did not come in time.
func FailureReason(err error, late string) string {
	var failed *RequestError
	switch {
	case !errors.As(err, &failed): // an answer that is none
		return "no answer: " + err.Error()
	case isTimeout(err):
		return late
	default:
		return "no answer: " + failed.Error()
	}
}
