// Package load is an HTTP client of lockstep's server. Burst generates load with many concurrent buyers, and returns a Result; Buy and
// Send send one request; Probe and Ready ask whether a server is there; Watch records its live stream. Begin with Burst.Run.
//
// Nothing that a server sends is trusted: bodies are bounded, and texts are quoted before they are shown.
package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/service/history"
)

// Burst generates load in a closed loop: all buyers begin together, and each sends its next request when the last one is answered.
type Burst struct {
	Targets  []string       // base URLs of the servers; requests are spread over them in turn
	Requests int            // total number of requests
	Buyers   int            // number of concurrent buyers
	Stock    int64          // initial stock of the run
	Lock     string         // lock to switch to first; empty: no switch
	Token    string         // admin token for PUT; empty: none is sent
	Timeout  time.Duration  // time limit for an answer; after that time without an answer to any buyer, no more requests are sent
	Progress func(done int) // called after each answer, by many goroutines at once

	// OnAnswer is called after each answer, by many goroutines at once, with the times since the start of the burst when the request was
	// sent and when it was answered. nil: not called.
	OnAnswer func(sent, answered time.Duration, sold bool)

	NewKey func() string // creates the Idempotency-Key with which a sale of unknown outcome is retried; nil: no retries

	MinAnswered float64 // share of the requests that must be answered for a PASS, from 0 to 1

	LedgerTimeout time.Duration // time for which a ledger that cannot be read is retried; 0: defaultLedgerTimeout
}

var (
	// ErrRefused is returned for an answer other than 200 to a request that starts a run, or reads its ledger.
	ErrRefused = language.Translate(errors.New("the server refused"), "服务器拒绝了")
	// ErrInterrupted is returned when the context of a burst ends.
	ErrInterrupted = language.Translate(errors.New("interrupted"), "被中断")
)

// controlTimeout is the time limit for switching the lock, and for starting a run. The server first waits for sales in flight.
const controlTimeout = 2 * time.Minute

// Times for reading the ledger, which is retried because Redis or the server may be restarting.
const (
	defaultLedgerTimeout = 30 * time.Second // time limit for all attempts
	ledgerRetryInterval  = 250 * time.Millisecond
	ledgerReadTimeout    = 15 * time.Second // time limit for one attempt
)

// Check returns an error if a number is out of range. The error names the flag.
func (b Burst) Check() error {
	switch {
	case b.Requests < 1 || b.Requests > 10_000_000:
		return language.Translate(fmt.Errorf("-n %d is not allowed: want from 1 to 10000000 requests", b.Requests),
			"-n 不能是 %d：取值 1 到 10000000 个请求", b.Requests)
	case b.Buyers < 1 || b.Buyers > 100_000:
		return language.Translate(fmt.Errorf("-c %d is not allowed: want from 1 to 100000 buyers", b.Buyers),
			"-c 不能是 %d：取值 1 到 100000 个买家", b.Buyers)
	case b.Stock < 0 || b.Stock > history.MaxStock:
		return language.Translate(fmt.Errorf("--stock %d is not allowed: want from 0 to %d", b.Stock, history.MaxStock),
			"--stock 不能是 %d：取值 0 到 %d", b.Stock, history.MaxStock)
	case b.Timeout <= 0:
		return language.Translate(fmt.Errorf("--timeout %v is not allowed: want more than 0", b.Timeout), "--timeout 不能是 %v：必须大于 0", b.Timeout)
	case !(b.MinAnswered >= 0 && b.MinAnswered <= 1): // also rejects NaN
		return language.Translate(
			fmt.Errorf("--min-answered %v is not allowed: want from 0 (any share will do) to 1 (every request)", b.MinAnswered),
			"--min-answered 不能是 %v：取值 0（不限）到 1（每个请求）", b.MinAnswered)
	}
	return nil
}

// Run switches the lock, starts a run, sends all requests, and reads the ledger. If the ledger cannot be read, the result still has the
// answers, and its verdict is UNKNOWN.
func (b Burst) Run(ctx context.Context) (Result, error) {
	client := NewClient(b.Timeout, b.Buyers)
	defer client.CloseIdleConnections()
	control := &http.Client{Transport: client.Transport, CheckRedirect: client.CheckRedirect, Timeout: max(b.Timeout, controlTimeout)}

	if b.Lock != "" {
		if _, err := b.call(ctx, control, http.MethodPut, "/lock", map[string]string{"version": b.Lock}); err != nil {
			return Result{}, err
		}
	}
	text, err := b.call(ctx, control, http.MethodPut, "/inventory", map[string]int64{"stock": b.Stock})
	if err != nil {
		return Result{}, err
	}
	started, err := readReport(text)
	if err != nil {
		return Result{}, fmt.Errorf("PUT %s: %w", DisplayURL(b.Targets[0]+"/inventory"), err)
	}
	attempts, duration := b.sendAll(ctx, client)
	result := newResult(attempts, duration)
	if ctx.Err() != nil {
		answers := result.OK + result.SoldOut
		return Result{}, language.Translate(fmt.Errorf("%w after %d answers", ErrInterrupted, answers), "得到 %d 个响应之后被中断", answers)
	}
	result.Report, err = b.readLedger(ctx, client)
	if err == nil && result.Sold > int64(result.OK) {
		// Others bought, or sales of unknown outcome were made: the number of orders does not show whether all of ours are there.
		result.Gone, err = b.countMissing(ctx, client, ownOrders(attempts))
	}
	if err != nil {
		result.setUnread(started, err)
	}
	result.Judge(b.MinAnswered)
	return result, nil
}

// readLedger reads the report of the run, and retries for LedgerTimeout. If ctx ends, it still returns the last error of the server.
func (b Burst) readLedger(ctx context.Context, client *http.Client) (report history.Report, lastErr error) {
	deadline := time.Now().Add(cmp.Or(b.LedgerTimeout, defaultLedgerTimeout))
	for {
		report, err := b.readLedgerOnce(ctx, client)
		if err == nil {
			return report, nil
		}
		if lastErr == nil || ctx.Err() == nil {
			lastErr = err
		}
		if time.Now().After(deadline) {
			return history.Report{}, lastErr
		}
		select {
		case <-ctx.Done():
			return history.Report{}, lastErr
		case <-time.After(ledgerRetryInterval):
		}
	}
}

// readLedgerOnce reads the report of the run once.
func (b Burst) readLedgerOnce(ctx context.Context, client *http.Client) (history.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, ledgerReadTimeout)
	defer cancel()
	text, err := b.call(ctx, client, http.MethodGet, "/inventory", nil)
	if err != nil {
		return history.Report{}, err
	}
	report, err := readReport(text)
	if err != nil {
		err = fmt.Errorf("GET %s: %w", DisplayURL(b.Targets[0]+"/inventory"), err)
	}
	return report, err
}

// errNotReport is returned for an answer that is not the report of a run.
var errNotReport = errors.New("the answer is not the report of a run")

// readReport parses the report of a run. It fails if a name is not well-formed, or if the verdict does not follow from the numbers.
func readReport(text []byte) (history.Report, error) {
	var r history.Report
	if err := decodeObject(text, &r); err != nil {
		return history.Report{}, fmt.Errorf("%w: %s", errNotReport, Quote(string(text)))
	}
	t := history.Tally{
		Run:       history.Run{ID: r.RunID, Lock: r.Lock, Initial: r.Initial, Forgot: r.Forgot},
		Remaining: r.Remaining, Sold: r.Sold, InFlight: r.InFlight, MaxInFlight: r.MaxInFlight,
	}
	switch {
	case !isName(&r.RunID) || !isName(&r.Lock):
		return history.Report{}, fmt.Errorf("%w: %s", errNotReport, Quote(string(text)))
	case t.Report() != r:
		return history.Report{}, fmt.Errorf("%w: its verdict does not follow from its numbers: %s", errNotReport, Quote(string(text)))
	default:
		return r, nil
	}
}

// sendAll runs the buyers. It returns an attempt for each request, fewer than Requests if ctx ended, and the total duration.
func (b Burst) sendAll(ctx context.Context, client *http.Client) ([]attempt, time.Duration) {
	var next, done atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	attempts := make([]attempt, b.Requests)
	began := time.Now()
	var lastAnswer atomic.Int64 // nanoseconds from began to the last answer
	for range b.Buyers {
		wg.Go(func() {
			<-start
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= b.Requests {
					return
				}
				sentAt := time.Since(began)
				var responsive bool
				attempts[i], responsive = b.sendUnlessSilent(ctx, client, i, sentAt-time.Duration(lastAnswer.Load()))
				if responsive {
					lastAnswer.Store(int64(time.Since(began)))
				}
				if b.OnAnswer != nil {
					b.OnAnswer(sentAt, time.Since(began), attempts[i].isSold())
				}
				b.Progress(int(done.Add(1)))
			}
		})
	}
	close(start)
	wg.Wait()
	return attempts[:min(int(next.Load()), b.Requests)], time.Since(began)
}

// sendUnlessSilent sends the i-th request, unless no buyer has had an answer for longer than Timeout. silence is the time since the last
// answer. responsive is true after an answer, or after a connection that was refused at once.
func (b Burst) sendUnlessSilent(ctx context.Context, client *http.Client, i int, silence time.Duration) (_ attempt, responsive bool) {
	if silence > b.Timeout {
		return attempt{code: fmt.Sprintf("not sent: no buyer had an answer for %v", b.Timeout)}, false
	}
	a := b.buyWithRetry(ctx, client, i)
	return a, a.status != 0 || !a.sent
}
