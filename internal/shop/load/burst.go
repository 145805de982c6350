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
	Lock     string // switch to this lock first; empty: leave it
	Token    string // for PUT, if the server asks for one
	Timeout  time.Duration
	Progress func(done int) // called after each answer, from many goroutines

	MinAnswered float64 // share of the requests that must be answered for a PASS, from 0 to 1

	Patience time.Duration // how long the ledger is asked for again while it cannot be read; 0: 30s
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
	patience = 30 * time.Second
	readWait = 250 * time.Millisecond
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
	transport := &http.Transport{MaxIdleConnsPerHost: b.Buyers, DialContext: Dialer()}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: max(b.Timeout, controlTimeout)}

	if b.Lock != "" {
		if err := b.call(ctx, client, http.MethodPut, "/lock", map[string]string{"version": b.Lock}, nil); err != nil {
			return Result{}, err
		}
	}
	var begun history.Report
	if err := b.call(ctx, client, http.MethodPut, "/inventory", map[string]int64{"stock": b.Stock}, &begun); err != nil {
		return Result{}, err
	}
	result := b.buy(ctx, &http.Client{Transport: transport, Timeout: b.Timeout})
	if ctx.Err() != nil {
		return Result{}, fmt.Errorf("%w after %d answers", ErrInterrupted, result.OK+result.SoldOut)
	}
	if err := b.readLedger(ctx, client, &result.Report); err != nil {
		result.leaveUnread(begun, err)
	}
	result.Judge(b.MinAnswered)
	return result, nil
}

// readLedger reads the verdict, again and again for a while. Its error is the server's last, also where ctx ends the wait.
func (b Burst) readLedger(ctx context.Context, client *http.Client, into *history.Report) (last error) {
	for enough := time.Now().Add(cmp.Or(b.Patience, patience)); ; {
		err := b.call(ctx, client, http.MethodGet, "/inventory", nil, into)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		if time.Now().After(enough) {
			return last
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(readWait):
		}
	}
}

func (b Burst) buy(ctx context.Context, client *http.Client) Result {
	var asked atomic.Int64
	var done atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	attempts := make([]attempt, b.Requests)
	for range b.Buyers {
		wg.Go(func() {
			<-start
			for ctx.Err() == nil {
				i := int(asked.Add(1)) - 1
				if i >= b.Requests {
					return
				}
				attempts[i] = buyOne(ctx, client, b.Targets[i%len(b.Targets)])
				b.Progress(int(done.Add(1)))
			}
		})
	}
	began := time.Now()
	close(start)
	wg.Wait()
	return sum(attempts[:min(int(asked.Load()), b.Requests)], time.Since(began))
}
