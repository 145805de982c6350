package cli

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/internal/suite"
)

// Twenty who watch take less than a tenth of a shop's sales: in turn it is watched and unwatched, at full speed, and the halves are compared.
func TestTwentyWatchersCostLessThanATenth(t *testing.T) {
	suite.LongOnly(t, "TestShowingCostsTheLockNothing has what it costs Redis")
	const turn, turns, buyers, watchers = 2 * time.Second, 10, 8, 20
	s := start(t, "--redis.embedded_addr", anyPort, "--lock.version", "v9", "--inventory.initial", "1000000")
	buyFor(t, s, turn, buyers) // until it has all the connections that it needs
	before := runtime.NumGoroutine()
	var sold [2]float64
	for i := range turns {
		watched := i % 2
		leave := watchFrames(t, s.url(), watchers*watched)
		sold[watched] += float64(buyFor(t, s, turn, buyers))
		leave()
	}
	share := sold[1] / sold[0]
	t.Logf("%.0f sales/s unwatched, %.0f sales/s with %d watchers: %.3f",
		sold[0]*2/turns/turn.Seconds(), sold[1]*2/turns/turn.Seconds(), watchers, share)
	if share < 0.9 {
		t.Errorf("watched, the shop sells %.3f of what it sells unwatched", share)
	}
	http.DefaultClient.CloseIdleConnections()
	eventually(t, "the goroutines are back", func() bool { return runtime.NumGoroutine() <= before+5 })
}

// watchFrames watches with so many readers, until the function that it returns is called.
func watchFrames(t *testing.T, url string, n int) (leave func()) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var reading sync.WaitGroup
	var read atomic.Int64
	for range n {
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
			bytes, _ := io.Copy(io.Discard, response.Body)
			read.Add(bytes)
		})
	}
	return func() {
		end()
		reading.Wait()
		if n > 0 {
			t.Logf("%d kB were read", read.Load()/1000)
		}
	}
}

// buyFor buys for some time, and gives the number of sales.
func buyFor(t *testing.T, s *testServer, d time.Duration, buyers int) int64 {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: buyers}}
	defer client.CloseIdleConnections()
	var sold atomic.Int64
	var buying sync.WaitGroup
	until := time.Now().Add(d)
	for range buyers {
		buying.Go(func() {
			for time.Now().Before(until) {
				response, err := client.Post(s.url()+"/inventory/sale", "", http.NoBody) //nolint:noctx // a test
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if response.StatusCode == http.StatusOK {
					sold.Add(1)
				}
			}
		})
	}
	buying.Wait()
	return sold.Load()
}
