package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/internal/live"
	"lockstep/internal/redistest"
	"lockstep/internal/suite"
)

const (
	manyWatchers = 20
	firstShown   = 1 << 14 // bytes
)

// What twenty who watch cost a shop is told: in turn it is watched and unwatched, and offered a thousand sales a second. What is tested is
// that each sale is made all the same, that each watcher is shown something, and that nothing goes on when they have left.
func TestManyWatchersCostNoSale(t *testing.T) {
	suite.LongOnly(t, "TestShowingCostsTheLockNothing has what it costs Redis")
	const turn, turns, perSecond = 3 * time.Second, 10, 1000
	s := start(t, "--redis.addrs", redistest.Start(t).Addr, "--lock.version", "atomic", "--inventory.initial", "1000000")
	offer(t, s, turn, perSecond) // until it has all the connections that it needs
	before := showing()
	var offered, inTime [2]int64
	for i := range turns {
		watched := i % 2
		leave := watchFrames(t, s.url(), manyWatchers*watched)
		o, in := offer(t, s, turn, perSecond)
		offered[watched] += o
		inTime[watched] += in
		for _, text := range leave() {
			if !strings.Contains(text, "event: run") || len(text) < firstShown {
				t.Errorf("a watcher was shown %.200q", text)
			}
		}
	}
	for watched, name := range []string{"unwatched", "watched"} {
		t.Logf("%s: %d sales were offered, and %d were made in time", name, offered[watched], inTime[watched])
	}
	t.Logf("%.3f of what is sold unwatched is sold with %d watchers", float64(inTime[1])/float64(inTime[0]), manyWatchers)
	if sold, want := s.report().Sold, offered[0]+offered[1]+perSecond*int64(turn/time.Second); sold != want {
		t.Errorf("of %d sales, %d were made", want, sold)
	}
	eventually(t, "nothing is shown any more", func() bool { return showing() <= before })
}

// Twenty who watch are shown the same sales, each of the burst's: behind a front, and at servers that know each other.
func TestManyWatchersSeeTheSame(t *testing.T) {
	suite.LongOnly(t, "TestPeers has two watchers, and TestSettingsReachEveryReplica has one behind a front")
	c := startCluster(t, "--replicas", "2", "--lock", "v9")
	redis, first, second := redistest.Start(t).Addr, unusedAddr(t), unusedAddr(t)
	common := []string{"--redis.addrs", redis, "--lock.version", "v9"}
	one := start(t, append(common, "--server.addr", first, "--server.peers", second, "--server.replica", "one")...)
	two := start(t, append(common, "--server.addr", second, "--server.peers", first, "--server.replica", "two")...)
	for name, shops := range map[string][]*testServer{"front": {c.testServer}, "peers": {one, two}} {
		const sales = 100
		var watchers []func() string
		for i := range manyWatchers {
			sent := shown(t, shops[i%len(shops)].url())
			until(t, sent, "event: run")
			watchers = append(watchers, sent)
		}
		var burst live.BurstAnswer
		if status := shops[0].ask(http.MethodPost, "/bursts", fmt.Sprintf(`{"n":%d,"c":20}`, sales), &burst); status != http.StatusAccepted {
			t.Fatalf("%s: POST /bursts: %d", name, status)
		}
		for i, sent := range watchers {
			eventually(t, fmt.Sprintf("%s: watcher %d is shown each sale", name, i), func() bool { return len(sectionsIn(sent())) >= sales })
		}
		want := sectionsIn(watchers[0]())
		if len(want) != sales {
			t.Errorf("%s: %d sales are shown; want %d", name, len(want), sales)
		}
		replicas := map[string]bool{}
		for _, sale := range want {
			replica, _, _ := strings.Cut(sale, "#")
			replicas[replica] = true
		}
		if len(replicas) != 2 {
			t.Errorf("%s: those of %v are shown; want two replicas", name, replicas)
		}
		for i, sent := range watchers {
			if got := sectionsIn(sent()); !slices.Equal(got, want) {
				t.Errorf("%s: watcher %d is shown\n%v\nand the first\n%v", name, i, got, want)
			}
		}
	}
}

var sectionShown = regexp.MustCompile(`"sale":"([^"]+)","replica":"[^"]+","from":`)

// sectionsIn are the sales that were shown to have been inside.
func sectionsIn(sent string) (sales []string) {
	for _, match := range sectionShown.FindAllStringSubmatch(sent, -1) {
		sales = append(sales, match[1])
	}
	slices.Sort(sales)
	return slices.Compact(sales)
}

// showing is how many goroutines are at work for those who watch.
func showing() (n int) {
	stacks := make([]byte, 1<<24)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, one := range strings.Split(string(stacks), "\n\n") {
		if strings.Contains(one, "lockstep/internal/live.(*Hub)") {
			n++
		}
	}
	return n
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

// offer buys at a rate, whether the shop keeps up or not. It gives how many sales were offered, and how many were made before the time was
// over; it waits for the others.
func offer(t *testing.T, s *testServer, d time.Duration, perSecond int64) (offered, inTime int64) {
	t.Helper()
	const buyers = 64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: buyers}}
	defer client.CloseIdleConnections()
	offered = int64(d.Seconds() * float64(perSecond))
	var next, made atomic.Int64
	var buying sync.WaitGroup
	began := time.Now()
	for range buyers {
		buying.Go(func() {
			for i := next.Add(1) - 1; i < offered; i = next.Add(1) - 1 {
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
	return offered, made.Load()
}
