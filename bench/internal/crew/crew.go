// Package crew is one process of a contestant: a share of the workers, each of which sells again and again. The race starts it as
// a child, tells it what to do by a line of JSON on its standard input, and reads from its standard output how it went.
package crew

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/bench/internal/contest"
	"lockstep/bench/internal/wire"
	"lockstep/internal/redisclient"
)

// Argument is what the command line of a crew is.
const Argument = "crew"

// Job is what a crew is told first.
type Job struct {
	Contestant string        `json:"contestant"`
	Addrs      []string      `json:"addrs"` // of the Redis servers
	Workers    int           `json:"workers"`
	Process    string        `json:"process"`
	RoundTrip  time.Duration `json:"round_trip_ns"` // added to each
	Pool       int           `json:"pool"`
	Retry      time.Duration `json:"retry_ns"`
	TTL        time.Duration `json:"ttl_ns"`
	Wait       time.Duration `json:"wait_ns"`
	Rest       time.Duration `json:"rest_ns"` // of a worker that has sold
}

// Ready is what it answers once it can begin.
type Ready struct {
	Ping time.Duration `json:"ping_ns"` // median round trip that it finds
}

// Stretch is what it is told then: it sells from now to End, and counts from Begin. All processes share the machine's clock.
type Stretch struct {
	Begin time.Time `json:"begin"`
	End   time.Time `json:"end"`
}

// Main does a job of a contestant of the table. It fails when it is told nonsense, has no Redis, or standard input ends before
// it was told when to begin.
func Main(ctx context.Context, table []contest.Contestant, stdin io.Reader, stdout io.Writer) error {
	in, out := json.NewDecoder(stdin), json.NewEncoder(stdout)
	var job Job
	if err := in.Decode(&job); err != nil {
		return fmt.Errorf("the job: %w", err)
	}
	found, err := contest.Find(table, []string{job.Contestant})
	if err != nil {
		return err
	}
	requests := new(atomic.Int64)
	dialer := wire.Dialer{RoundTrip: job.RoundTrip, Requests: requests}
	ping, err := ping(ctx, dialer, job.Addrs[0])
	if err != nil {
		return err
	}
	seller, err := found[0].Open(contest.Env{
		Addrs: job.Addrs, Dial: dialer.DialContext, Pool: job.Pool, Process: job.Process, Retry: job.Retry, TTL: job.TTL, Wait: job.Wait,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", job.Contestant, err)
	}
	if err := out.Encode(Ready{Ping: ping}); err != nil {
		return fmt.Errorf("ready: %w", err)
	}
	var stretch Stretch
	if err := in.Decode(&stretch); err != nil {
		return fmt.Errorf("when to begin: %w", err)
	}
	report := work(ctx, seller, job, stretch, requests)
	if err := out.Encode(report); err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	return seller.Close()
}

// work has all workers sell until the stretch is over.
func work(ctx context.Context, seller contest.Seller, job Job, stretch Stretch, requests *atomic.Int64) Report {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	workers := make([]worker, job.Workers)
	var working sync.WaitGroup
	for i := range workers {
		working.Go(func() { workers[i].work(ctx, seller, job) })
	}
	until(ctx, stretch.Begin)
	before := requests.Load()
	until(ctx, stretch.End)
	during := requests.Load() - before
	stop()
	working.Wait()
	report := tally(workers, stretch)
	report.Requests = during
	return report
}

func until(ctx context.Context, t time.Time) {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// ping measures the round trip that a client finds: the median of some.
func ping(ctx context.Context, dialer wire.Dialer, addr string) (time.Duration, error) {
	client := redisclient.Single(redisclient.Config{Addrs: []string{addr}, Dialer: dialer.DialContext})
	defer func() { _ = client.Close() }() // it has done its work
	var trips []time.Duration
	for range 21 {
		sent := time.Now()
		if err := client.Ping(ctx).Err(); err != nil {
			return 0, fmt.Errorf("PING %s: %w", addr, err)
		}
		trips = append(trips, time.Since(sent))
	}
	return median(trips[1:]), nil // the first one dials
}
