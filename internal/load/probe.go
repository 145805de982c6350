package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"lockstep/internal/language"
)

var (
	// ErrNotListening is returned if the server refuses connections.
	ErrNotListening = language.Translate(errors.New("connection refused: nothing is listening there"), "连接被拒绝：那里没有程序在监听")
	// ErrNotLockstep is returned if another program answers. The error shows the answer.
	ErrNotLockstep = language.Translate(errors.New("the server is not lockstep"), "那里的服务器不是 lockstep")
	// ErrNotReady is returned if lockstep answers that it cannot sell. The error shows the cause.
	ErrNotReady = language.Translate(errors.New("not ready"), "尚未就绪")
)

// probeTimeout is the time limit for an answer to Probe.
const probeTimeout = time.Second

// Probe returns an error unless the server at the base URL target is lockstep and answers within probeTimeout.
func Probe(ctx context.Context, target string) error {
	return probe(ctx, NewClient(probeTimeout, 0), target+"/healthz", nil)
}

// Ready returns an error unless the server at the base URL target is lockstep and answers, within the given time, that it can sell.
func Ready(ctx context.Context, target string, within time.Duration) error {
	return probe(ctx, NewClient(within, 0), target+"/readyz", ErrNotReady)
}

// probe returns an error unless lockstep answers at url with status 200. If notOK is not nil, it wraps an error that lockstep answers.
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
	problem := parseProblem(answer.Status, answer.location, text)
	status := fmt.Sprintf("%d %s", answer.Status, http.StatusText(answer.Status))
	proxy := describeProxy(answer.proxy)
	switch {
	case notOK != nil && errorCodePattern.MatchString(problem.Code):
		return fmt.Errorf("%w: %s: %s%s", notOK, problem.Code, problem.Message, proxy)
	case problem.Code == foreignErrorCode:
		return fmt.Errorf("%w: it answered %s, %s%s", ErrNotLockstep, status, problem.Message, proxy)
	default:
		return fmt.Errorf("the server answered %s: %s, %s%s", status, problem.Code, problem.Message, proxy)
	}
}
