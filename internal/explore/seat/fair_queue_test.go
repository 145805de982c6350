package seat

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/api/route"
)

// startWaiting queues a client in the background. done is called with nil in its turn, or with the error. leave cancels the wait.
func startWaiting(t *testing.T, turns *fairQueue, client string, done func(error)) (leave func()) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		err := turns.run(ctx, client, notCached, noUpdate, func() error { done(nil); return nil })
		if err != nil {
			done(err)
		}
	}()
	synctest.Wait()
	return leave
}

// A client with many tickets gets every other turn while another client waits; a client that has left is skipped.
func TestQueueAlternatesBetweenClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := &fairQueue{capacity: 11}
		end := takeTurn(t, turns, "hog")
		var order []string
		note := func(who string) func(error) {
			return func(err error) {
				if err == nil {
					order = append(order, who)
				}
			}
		}
		for range 4 {
			startWaiting(t, turns, "hog", note("hog"))
		}
		startWaiting(t, turns, "pupil", note("pupil"))
		startWaiting(t, turns, "gone", note("gone"))()
		startWaiting(t, turns, "pupil", note("pupil"))
		startWaiting(t, turns, "late", note("late"))
		synctest.Wait()
		end()
		synctest.Wait()
		if got, want := strings.Join(order, ","), "hog,pupil,late,hog,pupil,hog,hog"; got != want {
			t.Errorf("the order is %s; want %s", got, want)
		}
		if len(turns.tickets) > 0 || turns.current != nil {
			t.Errorf("%d places are taken when all have left", len(turns.tickets))
		}
	})
}

// A client may take all places, but other clients still get some: the client with the most tickets loses its last ones.
func TestQueueKeepsPlacesForOtherClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const line = 6
		turns := &fairQueue{capacity: line + 1}
		var refused []int
		served := map[string]int{}
		work := make(chan struct{})
		for i := range line + 1 {
			startWaiting(t, turns, "hog", func(err error) {
				if errors.Is(err, ErrBusy) {
					refused = append(refused, i)
				} else if err == nil {
					<-work
				}
			})
		}
		if _, err := turns.join("hog"); !errors.Is(err, ErrBusy) {
			t.Errorf("one more of the same: %v; want ErrBusy", err)
		}
		for _, pupil := range []string{"A", "B", "B"} {
			startWaiting(t, turns, pupil, func(error) { served[pupil]++ })
		}
		if !slices.Equal(refused, []int{6, 5, 4}) {
			t.Errorf("the hog lost %v; want its last three", refused)
		}
		for range 2 { // The first of two has as many tickets as the other client; the second is one too many.
			startWaiting(t, turns, "A", func(err error) {
				if err != nil && !errors.Is(err, ErrBusy) {
					t.Error(err)
				}
			})
		}
		close(work)
		synctest.Wait()
		if served["A"] != 1 || served["B"] != 2 {
			t.Errorf("served: %v", served)
		}
	})
}

// Each request that runs the code of a lock waits for its turn, ends when its client leaves, and has a time limit.
func TestEveryRunWaitsForItsTurn(t *testing.T) {
	limits := DefaultLimits()
	limits.MaxWait = time.Millisecond
	s := New(limits, nil)
	end := takeTurn(t, s.runs, "another")
	asks := []string{"state", "file", "beside", "hint", "oracle"}
	says := func(ctx context.Context, what string) string {
		return answerTo(ctx, s, "/seat/"+what,
			"lock", "v2", "in", "--faults expiry=1", "do", "A:SET", "with", "v3", "anomaly", "two-holders")
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	for _, what := range asks {
		if said := says(t.Context(), what); !strings.Contains(said, `"busy"`) {
			t.Errorf("%s in another's turn: %s; want it to be busy", what, said)
		}
		if said := says(left, what); !strings.Contains(said, `"client_closed_request"`) {
			t.Errorf("%s, and the reader has left: %s", what, said)
		}
	}
	end()
	s.limits.RunTime = time.Nanosecond
	for _, what := range asks {
		if said := says(t.Context(), what); !strings.Contains(said, `"too_large"`) {
			t.Errorf("%s takes too long: %s; want it to be said", what, said)
		}
	}
}

// takeTurn takes a turn in an empty queue.
func takeTurn(t *testing.T, turns *fairQueue, client string) (end func()) {
	t.Helper()
	place, err := turns.join(client)
	if err != nil || turns.current != place {
		t.Fatal("the turn has not come:", err)
	}
	return func() { turns.leave(place) }
}

// answerTo returns the answer of a seat to a request.
func answerTo(ctx context.Context, s *Seat, path string, pairs ...string) string {
	query := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		query.Set(pair[0], pair[1])
	}
	w := httptest.NewRecorder()
	route.Mux(s.Routes()...).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path+"?"+query.Encode(), nil))
	return w.Body.String()
}
