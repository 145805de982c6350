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

// What a shop is offered: so long, so many sales a second.
const turn, perSecond = 3 * time.Second, 1000

// watchable is a shop that has all its connections.
func watchable(t testing.TB) *testServer {
	t.Helper()
	s := start(t, "--redis.addrs", redistest.Start(t).Addr, "--lock.version", "atomic", "--inventory.initial", "1000000")
	s.Live.Hub.Linger = time.Millisecond // or it would go on following in the turns of those who are unwatched
	offer(t, s)
	return s
}

// Twenty who watch cost a shop no sale, and leave nothing behind.
func TestManyWatchersCostNoSale(t *testing.T) {
	suite.LongOnly(t, "TestShowingCostsTheLockNothing has what it costs Redis, and TestOnlyWhileWatched that following ends")
	s := watchable(t)
	before := atRest()
	leave := watchFrames(t, s.url(), manyWatchers)
	offer(t, s)
	for _, text := range leave() {
		if !strings.Contains(text, "event: run") || len(text) < firstShown {
			t.Errorf("a watcher was shown %.200q", text)
		}
	}
	if got, want := s.report().Sold, int64(2*turn.Seconds()*perSecond); got != want {
		t.Errorf("of %d sales, %d were made", want, got)
	}
	var now rest
	defer func() { t.Logf("before, at rest: %+v; after: %+v", before, now) }()
	eventually(t, "goroutines and memory are what they were", func() bool {
		now = atRest()
		return now.goroutines <= before.goroutines && now.heap <= before.heap+heapSlack
	})
}

// What twenty who watch cost in time, as a ratio: of the sales in time, and of the processor's, all readers' included. Turns beside each
// other are compared, and of all pairs the middle one counts.
func BenchmarkManyWatchers(b *testing.B) {
	s := watchable(b)
	var ratios, costs []float64
	for b.Loop() {
		unwatched := offer(b, s)
		leave := watchFrames(b, s.url(), manyWatchers)
		watched := offer(b, s)
		leave()
		ratios = append(ratios, float64(watched.inTime)/float64(unwatched.inTime))
		costs = append(costs, watched.cpu.Seconds()/unwatched.cpu.Seconds())
	}
	b.ReportMetric(median(ratios), "watched/unwatched")
	b.ReportMetric(median(costs), "cpu/unwatched")
	b.ReportMetric(0, "ns/op")
}

// watchFrames watches with so many readers, until the function that it returns is called: it gives the first that each was shown.
func watchFrames(t testing.TB, url string, n int) (leave func() []string) {
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

// offer buys for a turn, whether the shop keeps up or not. It waits for the sales that are late.
func offer(t testing.TB, s *testServer) offered {
	t.Helper()
	const buyers = 64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: buyers}}
	defer client.CloseIdleConnections()
	var next, made atomic.Int64
	var buying sync.WaitGroup
	began, worked := time.Now(), processorTime(t)
	for range buyers {
		buying.Go(func() {
			for i := next.Add(1) - 1; i < int64(turn.Seconds())*perSecond; i = next.Add(1) - 1 {
				<-time.After(time.Until(began.Add(time.Duration(i) * time.Second / perSecond)))
				response, err := client.Post(s.url()+"/inventory/sale", "", http.NoBody) //nolint:noctx // a test
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if response.StatusCode == http.StatusOK && time.Since(began) < turn {
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
func processorTime(t testing.TB) time.Duration {
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
