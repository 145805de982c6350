package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/internal/learn/classroom"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

const participants = 50

// predicts is what a participant's browser sends.
func predicts(participant string, lesson, choice int) string {
	return fmt.Sprintf(`{"participant":%q,"lesson":%d,"choice":%d}`, participant, lesson, choice)
}

// The front has the one room. If each replica had its own, six answers in a row would be in three rooms.
func TestAClusterHasOneRoom(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "3")
	want := func(status int, method, path, body string, into any) {
		t.Helper()
		if got := c.Ask(method, path, body, into); got != status {
			t.Errorf("%s %s: %d; want %d", method, path, got, status)
		}
	}
	want(http.StatusOK, http.MethodHead, "/room", "", nil)
	want(http.StatusNotFound, http.MethodGet, "/room/03", "", nil)
	want(http.StatusNotFound, http.MethodPost, "/room/answer", predicts("somebody", 3, 1), nil)
	var state classroom.State
	if want(http.StatusOK, http.MethodPost, "/room", "", &state); !state.Open {
		t.Errorf("opened: %+v", state)
	}
	for i := range 6 {
		var joined classroom.Joined
		want(http.StatusOK, http.MethodGet, "/course/03?lang=zh", "", nil) // of the replica whose turn it is
		want(http.StatusOK, http.MethodPost, "/room/join", "", &joined)
		want(http.StatusOK, http.MethodPost, "/room/answer", predicts(joined.Participant, 3, 1+i%3), nil)
	}
	var counts classroom.Counts
	want(http.StatusOK, http.MethodGet, "/room/03", "", &counts)
	if got := fmt.Sprint(counts); got != "{3 [2 2 2] 6}" {
		t.Errorf("counted: %s", got)
	}
	want(http.StatusOK, http.MethodHead, "/room/03", "", nil)
	want(http.StatusOK, http.MethodHead, "/join", "", nil)
	want(http.StatusOK, http.MethodDelete, "/room", "", nil)
	if want(http.StatusOK, http.MethodGet, "/room", "", &state); state.Open {
		t.Error("the room that was closed is open")
	}
}

// Fifty browsers read, look and predict, five times a second each: most wait for moments only, every last answer is counted, and nothing
// is left when they have gone. So it is on a server, and through a cluster's front.
func TestAClassOfFifty(t *testing.T) {
	suite.LongOnly(t, "TestAllAnswersAreCounted in internal/learn/classroom, without figures")
	t.Run("a server", func(t *testing.T) { aClass(t, shoptest.Start(t).Client, 0) })
	const replicas = 3
	t.Run("a cluster", func(t *testing.T) {
		aClass(t, startCluster(t, "--replicas", fmt.Sprint(replicas)).Client, replicas*participants)
	})
}

// aClass lets the class in. So many connections to replicas may stay for the next requests.
func aClass(t *testing.T, s shoptest.Client, kept int) {
	t.Helper()
	const rounds, apart = 25, 200 * time.Millisecond
	s.Ask(http.MethodGet, "/course/03", "", nil) // lessons are read once
	http.DefaultClient.CloseIdleConnections()
	goroutines, heap := runtime.NumGoroutine(), heapInUse()
	s.Ask(http.MethodPost, "/room", "", nil)

	var all sync.WaitGroup
	took := make([]map[string][]time.Duration, participants)
	for i := range participants {
		took[i] = map[string][]time.Duration{}
		all.Go(func() {
			b := browser{url: s.URL(), client: &http.Client{Transport: &http.Transport{}}, took: took[i]}
			defer b.client.CloseIdleConnections()
			b.ask(t, http.MethodGet, "/course/03", "")
			var joined classroom.Joined
			s.Ask(http.MethodPost, "/room/join", "", &joined)
			next := time.NewTicker(apart)
			defer next.Stop()
			for round := range rounds {
				b.ask(t, http.MethodGet, "/room", "")
				b.ask(t, http.MethodPost, "/room/answer", predicts(joined.Participant, 3, 1+(i+round)%3))
				<-next.C
			}
		})
	}
	all.Wait()
	var counts classroom.Counts
	s.Ask(http.MethodGet, "/room/03", "", &counts)
	if got := fmt.Sprint(counts); got != "{3 [17 17 16] 50}" { // of the last round: (i+24)%3 is i%3
		t.Errorf("counted: %s", got)
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		var each []time.Duration
		for _, of := range took {
			each = append(each, of[method]...)
		}
		slices.Sort(each)
		median, p99 := each[len(each)/2], each[len(each)*99/100]
		t.Logf("%d × %s: median %v, p99 %v, longest %v", len(each), method, median, p99, each[len(each)-1])
		if median > apart/2 { // the slowest are those of the beginning, when all come at once, and are the machine's
			t.Errorf("%s: one in two takes %v or more", method, median)
		}
	}
	s.Ask(http.MethodDelete, "/room", "", nil)
	http.DefaultClient.CloseIdleConnections()
	suite.Eventually(t, "their goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines+2*kept })
	if left := heapInUse() - heap; left > 2<<20 {
		t.Errorf("%d KiB are left", left>>10)
	}
}

// heapInUse is how much memory the program still refers to.
func heapInUse() int64 {
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return int64(memory.HeapAlloc) //nolint:gosec // it is less than 8 EiB
}

// browser is one participant's, with connections of its own.
type browser struct {
	url    string
	client *http.Client
	took   map[string][]time.Duration // by method
}

func (b browser) ask(t *testing.T, method, path, body string) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), suite.Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, b.url+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	answer, err := b.client.Do(request)
	if err != nil {
		t.Error(err)
		return
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%s %s: %d, %v", method, path, answer.StatusCode, err)
	}
	b.took[method] = append(b.took[method], time.Since(began))
}
