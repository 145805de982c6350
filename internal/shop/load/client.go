package load

import (
	"bytes"
	"context"
	"encoding/json"
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
	status, text, err := do(ctx, client, method, b.Targets[0]+path, b.Token, payload)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		problem := errorOf(text)
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

func do(ctx context.Context, client *http.Client, method, url, token string, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return response.StatusCode, text, err
}

// problem is the error of an answer.
type problem struct{ Code, Message string }

func errorOf(body []byte) problem {
	var answer struct{ Error problem }
	if err := json.Unmarshal(body, &answer); err != nil || answer.Error.Code == "" {
		return problem{Code: "not lockstep's error", Message: strings.TrimSpace(fmt.Sprintf("%.200s", body))}
	}
	return answer.Error
}

// Ask sends a request, and gives the status and the body of its answer.
func Ask(ctx context.Context, client *http.Client, method, url string) (int, []byte, error) {
	return do(ctx, client, method, url, "", nil)
}

// IsLockstep reports whether a lockstep answers at a base URL, within a second.
func IsLockstep(ctx context.Context, target string) bool {
	status, body, err := Ask(ctx, &http.Client{Timeout: time.Second}, http.MethodGet, target+"/healthz")
	var health struct{ Service string }
	return err == nil && status == http.StatusOK && json.Unmarshal(body, &health) == nil && health.Service == "lockstep"
}
