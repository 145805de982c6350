package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// The ways in which no lockstep answers. Errors of Probe and Ready say more.
var (
	ErrNotListening = errors.New("connection refused: nothing listens there")
	ErrNotLockstep  = errors.New("what answers there is no lockstep")
)

// probeTimeout is how long a server may take to say what it is.
const probeTimeout = time.Second

// Probe fails unless a lockstep answers at a base URL, within a second. Its error names the cause.
func Probe(ctx context.Context, target string) error {
	return probe(ctx, NewClient(probeTimeout, 0), target+"/healthz", nil)
}

// ErrNotReady means that a lockstep answers, and cannot sell.
var ErrNotReady = errors.New("not ready")

// Ready fails unless a lockstep answers at a base URL, within a time, that it can sell. Its error names the cause.
func Ready(ctx context.Context, target string, within time.Duration) error {
	return probe(ctx, NewClient(within, 0), target+"/readyz", ErrNotReady)
}

// probe asks a lockstep what it is. What one says instead is an error of a kind; nil: of another program's.
func probe(ctx context.Context, client *http.Client, url string, notOK error) error {
	defer client.CloseIdleConnections()
	answer, text, err := send(ctx, client, http.MethodGet, url, nil, nil)
	if err != nil {
		var failed *RequestError
		if errors.As(err, &failed) && failed.isRefused() {
			return ErrNotListening
		}
		return err
	}
	var health struct{ Service string }
	if answer.Status == http.StatusOK && decodeObject(text, &health) == nil && health.Service == "lockstep" {
		return nil
	}
	problem, status := parseProblem(answer.Status, answer.location, text), fmt.Sprintf("%d %s", answer.Status, http.StatusText(answer.Status))
	switch by := describeProxy(answer.proxy); {
	case notOK != nil && errorCodePattern.MatchString(problem.Code):
		return fmt.Errorf("%w: %s: %s%s", notOK, problem.Code, problem.Message, by)
	case problem.Code == foreignErrorCode:
		return fmt.Errorf("%w: %s, %s%s", ErrNotLockstep, status, problem.Message, by)
	default:
		return fmt.Errorf("it answers %s: %s, %s%s", status, problem.Code, problem.Message, by)
	}
}
