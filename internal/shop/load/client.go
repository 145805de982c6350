package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// call sends a request to the first target, and fails unless the answer is a success.
func (b Burst) call(ctx context.Context, client *http.Client, method, path string, body, into any) error {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return err
		}
	}
	answer, text, err := do(ctx, client, method, b.Targets[0]+path, b.Token, payload)
	if err != nil {
		return err
	}
	if status := answer.Status; status != http.StatusOK {
		problem := problemOf(text)
		if status == http.StatusUnauthorized || status == http.StatusForbidden && b.Token != "" {
			problem.Message += "; give the server's token by --admin.token"
		}
		return fmt.Errorf("%w %s %s: %d %s: %s", ErrRefused, method, b.Targets[0]+path, status, problem.Code, problem.Message)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s %s: %w", method, b.Targets[0]+path, err)
	}
	return nil
}

// Answer is what a shop answers, as far as somebody heeds it.
type Answer struct {
	Status  int     `json:"-"`
	Replica string  `json:"-"`        // that answered; "" if it was the front
	OrderID string  `json:"order_id"` // of a sale
	RunID   string  `json:"run_id"`
	Before  int64   `json:"stock_before"`
	After   int64   `json:"stock_after"`
	Fence   int64   `json:"fence"`
	Error   Problem `json:"error"`
}

// Problem is the error of an answer.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	OrderID string `json:"order_id"` // of a sale
}

// Order returns the id of the order that it is about; "" if it does not say.
func (a Answer) Order() string { return a.OrderID + a.Error.OrderID } // one of the two

// do sends a request, and reads the answer's status, who sent it, and its body. An answer whose body breaks off comes with an error.
func do(ctx context.Context, client *http.Client, method, url, token string, body []byte) (answer Answer, text []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return answer, nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return answer, nil, err
	}
	defer response.Body.Close()
	answer.Status, answer.Replica = response.StatusCode, response.Header.Get("X-Lockstep-Replica")
	text, err = io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return answer, text, err
}

// problemOf returns the error that a body tells, or one that shows the body.
func problemOf(body []byte) Problem {
	var answer Answer
	if err := json.Unmarshal(body, &answer); err != nil || answer.Error.Code == "" {
		return Problem{Code: "not lockstep's error", Message: strings.TrimSpace(fmt.Sprintf("%.200s", body))}
	}
	return answer.Error
}

// Ask sends a request to a shop. It fails if there is no answer, or none in JSON.
func Ask(ctx context.Context, client *http.Client, method, url, body string) (Answer, error) {
	answer, text, err := do(ctx, client, method, url, "", []byte(body))
	if err != nil {
		return Answer{}, err
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, fmt.Errorf("%d, and not JSON: %.100s", answer.Status, text)
	}
	return answer, nil
}

// Get returns the status and the body of what a URL answers.
func Get(ctx context.Context, client *http.Client, url string) (status int, body []byte, err error) {
	answer, body, err := do(ctx, client, http.MethodGet, url, "", nil)
	return answer.Status, body, err
}

// MayHaveSold reports whether a sale may have been made that was answered by a status, 200 aside, and an error's code.
func MayHaveSold(status int, code string) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout: // a bug after the write; a front, or another proxy
		return true
	default:
		return code == "outcome_unknown"
	}
}

// Why says briefly why there was no answer, always in the same words for the same reason; late are those for one that did not come in time.
func Why(err error, late string) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return late
	}
	for unwrapped := err; unwrapped != nil; unwrapped = errors.Unwrap(unwrapped) {
		err = unwrapped
	}
	return "no answer: " + err.Error()
}

// IsLockstep reports whether a lockstep answers at a base URL, within a second.
func IsLockstep(ctx context.Context, target string) bool {
	status, body, err := Get(ctx, &http.Client{Timeout: time.Second}, target+"/healthz")
	var health struct{ Service string }
	return err == nil && status == http.StatusOK && json.Unmarshal(body, &health) == nil && health.Service == "lockstep"
}
