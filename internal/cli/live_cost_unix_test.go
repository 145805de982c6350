//go:build unix

package cli

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lockstep/internal/test/redistest"
	"lockstep/internal/test/suite"
)

const (
	firstShown = 1 << 14 // bytes
	heapSlack  = 4 << 20
)

// Twenty who watch cost a shop no sale, and leave nothing behind. What they cost in time is told, as a ratio, and not tested: a busy
// machine has another. The shop is offered a thousand sales a second, unwatched and watched in turn. Turns beside each other are compared,
// and of all pairs the middle one counts.
func TestManyWatchersCostNoSale(t *testing.T) {
	suite.LongOnly(t, "TestShowingCostsTheLockNothing has what it costs Redis, and TestOnlyWhileWatched that following ends")
	const turn, pairs, perSecond = 3 * time.Second, 5, 1000
	s := start(t, "--redis.addrs", redistest.Start(t).Addr, "--lock.version", "atomic", "--inventory.initial", "1000000")
	s.Live.Hub.Linger = time.Millisecond // or it would go on following in the turns of those who are unwatched
	offer(t, s, turn, perSecond)         // until it has all the connections that it needs
	before := atRest()
	const sales = int64(turn/time.Second) * perSecond
	sold := sales
	var ratios, costs []float64
	for range pairs {
		unwatched := offer(t, s, turn, perSecond)
		leave := watchFrames(t, s.url(), manyWatchers)
		watched := offer(t, s, turn, perSecond)
		for _, text := range leave() {
			if !strings.Contains(text, "event: run") || len(text) < firstShown {
				t.Errorf("a watcher was shown %.200q", text)
			}
		}
		t.Logf("in time of %d: unwatched %d, watched %d", sales, unwatched.inTime, watched.inTime)
		ratios = append(ratios, float64(watched.inTime)/float64(unwatched.inTime))
		costs = append(costs, watched.cpu.Seconds()/unwatched.cpu.Seconds())
		sold += 2 * sales
	}
	t.Logf("watched by %d, a shop sells %.3f of what it sells unwatched, and takes %.2f of the processor's time, all readers' included",
		manyWatchers, median(ratios), median(costs))
	if got := s.report().Sold; got != sold {
		t.Errorf("of %d sales, %d were made", sold, got)
	}
	var now rest
	defer func() { t.Logf("before, at rest: %+v; after: %+v", before, now) }()
	eventually(t, "goroutines and memory are what they were", func() bool {
		now = atRest()
		return now.goroutines <= before.goroutines && now.heap <= before.heap+heapSlack
	})
}

// watchFrames watches with so many readers, until the function that it returns is called: it gives the first that each was shown.
func watchFrames(t *testing.T, url string, n int) (leave func() []string) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var reading sync.WaitGroup
	texts := make([]string, n)
	for i := range n {
		reading.Go(func() {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/live", http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			response, err := client.Do(request)
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			var first strings.Builder
			_, _ = io.CopyN(&first, response.Body, firstShown)
			texts[i] = first.String()
			_, _ = io.Copy(io.Discard, response.Body)
		})
	}
	return func() []string {
		end()
		reading.Wait()
		return texts
	}
}

// offered is what became of the sales of one turn.
type offered struct {
	inTime int64         // those made before it was over
	cpu    time.Duration // this process's
}

// offer buys at a rate, whether the shop keeps up or not. It waits for the sales that are late.
func offer(t *testing.T, s *testServer, d time.Duration, perSecond int64) offered {
	t.Helper()
	const buyers = 64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: buyers}}
	defer client.CloseIdleConnections()
	var next, made atomic.Int64
	var buying sync.WaitGroup
	began, worked := time.Now(), processorTime(t)
	for range buyers {
		buying.Go(func() {
			for i := next.Add(1) - 1; i < int64(d.Seconds())*perSecond; i = next.Add(1) - 1 {
				<-time.After(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
				response, err := client.Post(s.url()+"/inventory/sale", "", http.NoBody) //nolint:noctx // a test
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if response.StatusCode == http.StatusOK && time.Since(began) < d {
					made.Add(1)
				}
			}
		})
	}
	buying.Wait()
	return offered{made.Load(), processorTime(t) - worked}
}

// rest is what a process has when nothing happens.
type rest struct {
	goroutines int
	heap       uint64
}

func atRest() rest {
	http.DefaultClient.CloseIdleConnections()
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return rest{runtime.NumGoroutine(), memory.HeapAlloc}
}

// processorTime is what this process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func median(numbers []float64) float64 {
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
}
