// Package load is a burst of buyers over HTTP, and what came of it.
package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/internal/history"
)

// Burst is a closed loop: so many buyers, released together, each asking again as soon as it was answered.
type Burst struct {
	Targets  []string // base URLs; the buyers take turns
	Requests int
	Buyers   int
	Stock    int64
	Lock     string // switch to this lock first; empty: leave it
	Token    string // for PUT, where the server asks for one
	Timeout  time.Duration
	Progress func(done int) // called after each answer, from many goroutines
}

// Result is what the run came to, and what the buyers saw.
type Result struct {
	history.Report
	Requests  int            `json:"requests"`
	OK        int            `json:"ok"`
	SoldOut   int            `json:"sold_out"`
	Failed    int            `json:"failed"`
	Failures  map[string]int `json:"failures,omitempty"` // by error code, or by what the client said
	Seconds   float64        `json:"seconds"`
	PerSecond float64        `json:"per_second"`
	Latency   Latency        `json:"latency_ms"`
}

// Latency is how long the answers took, in milliseconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// What can keep a burst from its verdict.
var (
	ErrRefused     = errors.New("the server refused")
	ErrInterrupted = errors.New("interrupted")
)

// controlTimeout is how long switching the lock, starting a run and reading the verdict may take: sales in flight end first.
const controlTimeout = 2 * time.Minute

// Run switches the lock, starts a run, lets the buyers loose, and reads the verdict.
func (b Burst) Run(ctx context.Context) (Result, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: b.Buyers}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: max(b.Timeout, controlTimeout)}

	if b.Lock != "" {
		if err := b.call(ctx, client, http.MethodPut, "/lock", map[string]string{"version": b.Lock}, nil); err != nil {
			return Result{}, err
		}
	}
	if err := b.call(ctx, client, http.MethodPut, "/inventory", map[string]int64{"stock": b.Stock}, nil); err != nil {
		return Result{}, err
	}
	result := b.buy(ctx, &http.Client{Transport: transport, Timeout: b.Timeout})
	if ctx.Err() != nil {
		return Result{}, fmt.Errorf("%w after %d answers", ErrInterrupted, result.OK+result.SoldOut)
	}
	return result, b.call(ctx, client, http.MethodGet, "/inventory", nil, &result.Report)
}

// answer is what one buyer saw once.
type answer struct {
	took   time.Duration
	status int
	code   string
}

func (b Burst) buy(ctx context.Context, client *http.Client) Result {
	var asked atomic.Int64
	var done atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	answers := make([]answer, b.Requests)
	for range b.Buyers {
		wg.Go(func() {
			<-start
			for ctx.Err() == nil {
				i := int(asked.Add(1)) - 1
				if i >= b.Requests {
					return
				}
				answers[i] = buyOne(ctx, client, b.Targets[i%len(b.Targets)])
				b.Progress(int(done.Add(1)))
			}
		})
	}
	began := time.Now()
	close(start)
	wg.Wait()
	return sum(answers[:min(int(asked.Load()), b.Requests)], time.Since(began))
}

func buyOne(ctx context.Context, client *http.Client, target string) answer {
	began := time.Now()
	status, body, err := do(ctx, client, http.MethodPost, target+"/inventory/sale", "", nil)
	a := answer{took: time.Since(began), status: status}
	if err != nil {
		a.code = reason(err, client.Timeout)
	} else if status != http.StatusOK {
		a.code = errorOf(body).Code
	}
	return a
}

// reason says in few words why there was no answer, the same words for the same reason.
func reason(err error, timeout time.Duration) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no answer within %v", timeout)
	}
	for unwrapped := err; unwrapped != nil; unwrapped = errors.Unwrap(unwrapped) {
		err = unwrapped
	}
	return "no answer: " + err.Error()
}

func sum(answers []answer, took time.Duration) Result {
	r := Result{Requests: len(answers), Seconds: took.Seconds(), Failures: map[string]int{}}
	latencies := make([]time.Duration, 0, len(answers))
	for _, a := range answers {
		latencies = append(latencies, a.took)
		switch a.status {
		case http.StatusOK:
			r.OK++
		case http.StatusConflict:
			r.SoldOut++
		default:
			r.Failed++
			r.Failures[a.code]++
		}
	}
	slices.Sort(latencies)
	if r.Seconds > 0 {
		r.PerSecond = float64(r.OK) / r.Seconds
	}
	r.Latency = Latency{
		P50: percentile(latencies, 50), P90: percentile(latencies, 90),
		P99: percentile(latencies, 99), Max: percentile(latencies, 100),
	}
	return r
}

// percentile gives, in milliseconds, the smallest duration that at least p percent of the sorted ones do not exceed.
func percentile(sorted []time.Duration, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := (len(sorted)*p + 99) / 100
	return float64(sorted[max(rank, 1)-1].Microseconds()) / 1000
}

// call asks the first target for something that must succeed.
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
		if status == http.StatusUnauthorized || status == http.StatusForbidden {
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

// Ask asks a server for something, and gives the status and the body of its answer.
func Ask(ctx context.Context, client *http.Client, method, url string) (int, []byte, error) {
	return do(ctx, client, method, url, "", nil)
}

// IsLockstep reports whether a lockstep answers at a base URL, within a second.
func IsLockstep(ctx context.Context, target string) bool {
	status, body, err := Ask(ctx, &http.Client{Timeout: time.Second}, http.MethodGet, target+"/healthz")
	var health struct{ Service string }
	return err == nil && status == http.StatusOK && json.Unmarshal(body, &health) == nil && health.Service == "lockstep"
}
