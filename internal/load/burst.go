// Package load asks a shop over HTTP as its buyers do: by one request, or by a burst of buyers, whose result it reports.
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

	"lockstep/internal/service/history"
)

// Burst is a closed loop: all buyers begin together, and each sends its next request when the last one is answered.
type Burst struct {
	Targets  []string // base URLs; the buyers take turns
	Requests int
	Buyers   int
	Stock    int64
	Lock     string         // switch to this lock first; empty: leave it
	Token    string         // for PUT, if the server asks for one
	Timeout  time.Duration  // of one answer; when nobody has had one for so long, no more are sent
	Progress func(done int) // called after each answer, from many goroutines

	// Seen is told when a request was sent and answered, since the first one, and whether it was sold; nil: nobody is told.
	OnAnswer func(from, to time.Duration, sold bool)

	NewKey func() string // makes the Idempotency-Key of a request, with which a buyer in doubt asks again; nil: it does not

	MinAnswered float64 // share of the requests that must be answered for a PASS, from 0 to 1

	LedgerTimeout time.Duration // how long the ledger is asked for again while it cannot be read; 0: 30s
}

// Reasons why a burst has no verdict.
var (
	ErrRefused     = errors.New("the server refused")
	ErrInterrupted = errors.New("interrupted")
)

// controlTimeout is how long switching the lock, starting a run and reading the verdict may take: sales in flight end first.
const controlTimeout = 2 * time.Minute

// A ledger that cannot be read at first may be soon: Redis restarts, or a server does.
const (
	defaultLedgerTimeout = 30 * time.Second
	ledgerRetryInterval  = 250 * time.Millisecond

	ledgerReadTimeout = 15 * time.Second // of one attempt
)

// Check refuses numbers that make no burst, by the flags that say them.
func (b Burst) Check() error {
	switch {
	case b.Requests < 1 || b.Requests > 10_000_000:
		return fmt.Errorf("-n %d is not allowed: want from 1 to 10000000 requests", b.Requests)
	case b.Buyers < 1 || b.Buyers > 100_000:
		return fmt.Errorf("-c %d is not allowed: want from 1 to 100000 buyers", b.Buyers)
	case b.Stock < 0 || b.Stock > history.MaxStock:
		return fmt.Errorf("--stock %d is not allowed: want from 0 to %d", b.Stock, history.MaxStock)
	case b.Timeout <= 0:
		return fmt.Errorf("--timeout %v is not allowed: want more than 0", b.Timeout)
	case !(b.MinAnswered >= 0 && b.MinAnswered <= 1): // nor NaN
		return fmt.Errorf("--min-answered %v is not allowed: want from 0 (any share will do) to 1 (every request)", b.MinAnswered)
	}
	return nil
}

// Run switches the lock, starts a run, sends the buyers, and reads the verdict. What the buyers were told is never thrown away: where the
// ledger cannot be read, the verdict is UNKNOWN.
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
		return Result{}, fmt.Errorf("%w after %d answers", ErrInterrupted, result.OK+result.SoldOut)
	}
	result.Report, err = b.readLedger(ctx, client)
	if err == nil && result.Sold > int64(result.OK) { // others bought, or buyers who are in doubt: the number does not tell whose are there
		result.Gone, err = b.countMissing(ctx, client, ownOrders(attempts))
	}
	if err != nil {
		result.setUnread(started, err)
	}
	result.Judge(b.MinAnswered)
	return result, nil
}

// readLedger reads the verdict, again and again for a while. Its error is the server's last, also where ctx ends the wait.
func (b Burst) readLedger(ctx context.Context, client *http.Client) (report history.Report, lastErr error) {
	for deadline := time.Now().Add(cmp.Or(b.LedgerTimeout, defaultLedgerTimeout)); ; {
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

// errNotReport means that an answer is not what a shop says of its run.
var errNotReport = errors.New("that is not a run's report")

// readReport reads what a shop says of its run. Its words are those of a shop, and its verdict is the one that follows from its numbers.
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

// sendAll sends the buyers, and returns what became of each request that was begun, and how long it took in all.
func (b Burst) sendAll(ctx context.Context, client *http.Client) ([]attempt, time.Duration) {
	var next, done atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	attempts := make([]attempt, b.Requests)
	began := time.Now()
	var lastAnswer atomic.Int64 // when something was answered for the last time, since began
	for range b.Buyers {
		wg.Go(func() {
			<-start
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= b.Requests {
					return
				}
				sentAt := time.Since(began)
				if silent := sentAt - time.Duration(lastAnswer.Load()); silent > b.Timeout {
					attempts[i].code = fmt.Sprintf("not sent: no answer to anybody for %v", b.Timeout)
				} else if attempts[i] = b.buyWithRetry(ctx, client, i); attempts[i].status != 0 || !attempts[i].sent {
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
