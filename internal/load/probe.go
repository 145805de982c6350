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
	ErrNobody = errors.New("connection refused: nothing listens there")
	ErrOther  = errors.New("what answers there is no lockstep")
)

// probeTime is how long a server may take to say what it is.
const probeTime = time.Second

// Probe fails unless a lockstep answers at a base URL, within a second. Its error names the cause.
func Probe(ctx context.Context, target string) error {
	return probe(ctx, NewClient(probeTime, 0), target+"/healthz", nil)
}

// ErrUnready means that a lockstep answers, and cannot sell.
var ErrUnready = errors.New("not ready")

// Ready fails unless a lockstep answers at a base URL, within a time, that it can sell. Its error names the cause.
func Ready(ctx context.Context, target string, within time.Duration) error {
	return probe(ctx, NewClient(within, 0), target+"/readyz", ErrUnready)
}

// probe asks a lockstep what it is. What one says instead is an error of a kind; nil: of another program's.
func probe(ctx context.Context, client *http.Client, url string, said error) error {
	defer client.CloseIdleConnections()
	answer, text, err := do(ctx, client, http.MethodGet, url, nil, nil)
	if err != nil {
		var failed *FailedError
		if errors.As(err, &failed) && failed.isRefused() {
			return ErrNobody
		}
		return err
	}
	var health struct{ Service string }
	if answer.Status == http.StatusOK && readObject(text, &health) == nil && health.Service == "lockstep" {
		return nil
	}
	problem, status := problemOf(answer.Status, answer.location, text), fmt.Sprintf("%d %s", answer.Status, http.StatusText(answer.Status))
	switch by := byProxy(answer.proxy); {
	case said != nil && code.MatchString(problem.Code):
		return fmt.Errorf("%w: %s: %s%s", said, problem.Code, problem.Message, by)
	case problem.Code == notOurs:
		return fmt.Errorf("%w: %s, %s%s", ErrOther, status, problem.Message, by)
	default:
		return fmt.Errorf("it answers %s: %s, %s%s", status, problem.Code, problem.Message, by)
	}
}
