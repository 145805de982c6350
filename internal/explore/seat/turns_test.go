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

// waits lets a client wait for a turn. Done is called in the turn, or with the error.
func waits(t *testing.T, turns *turns, client string, done func(error)) (leave func()) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		err := turns.take(ctx, client, never, nothing, func() error { done(nil); return nil })
		if err != nil {
			done(err)
		}
	}()
	synctest.Wait()
	return leave
}

// A client with many places gets every other turn, if one other waits; one that has left is passed over.
func TestClientsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := &turns{most: 11}
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
			waits(t, turns, "hog", note("hog"))
		}
		waits(t, turns, "pupil", note("pupil"))
		waits(t, turns, "gone", note("gone"))()
		waits(t, turns, "pupil", note("pupil"))
		waits(t, turns, "late", note("late"))
		synctest.Wait()
		end()
		synctest.Wait()
		if got, want := strings.Join(order, ","), "hog,pupil,late,hog,pupil,hog,hog"; got != want {
			t.Errorf("the order is %s; want %s", got, want)
		}
		if len(turns.tickets) > 0 || turns.working != nil {
			t.Errorf("%d places are taken when all have left", len(turns.tickets))
		}
	})
}

// One client may take all places, and others still get one: the client with most loses its last.
func TestOneClientDoesNotFillTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const line = 6
		turns := &turns{most: line + 1}
		var refused []int
		served := map[string]int{}
		work := make(chan struct{})
		for i := range line + 1 {
			waits(t, turns, "hog", func(err error) {
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
			waits(t, turns, pupil, func(error) { served[pupil]++ })
		}
		if !slices.Equal(refused, []int{6, 5, 4}) {
			t.Errorf("the hog lost %v; want its last three", refused)
		}
		for range 2 { // as many as the hog has, and then no more
			waits(t, turns, "A", func(err error) {
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

// Whatever runs a lock's code waits for its turn, and has no other without it.
func TestWhateverRunsTakesATurn(t *testing.T) {
	limits := Usual()
	limits.Longer = time.Millisecond
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
	s.limits.Run = time.Nanosecond
	for _, what := range asks {
		if said := says(t.Context(), what); !strings.Contains(said, `"too_large"`) {
			t.Errorf("%s takes too long: %s; want it to be said", what, said)
		}
	}
}

// takeTurn begins a turn, which has come at once.
func takeTurn(t *testing.T, turns *turns, client string) (end func()) {
	t.Helper()
	place, err := turns.join(client)
	if err != nil || turns.working != place {
		t.Fatal("the turn has not come:", err)
	}
	return func() { turns.leave(place) }
}

// answerTo gives what a seat answers.
func answerTo(ctx context.Context, s *Seat, path string, pairs ...string) string {
	query := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		query.Set(pair[0], pair[1])
	}
	w := httptest.NewRecorder()
	route.Mux(s.Routes()...).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path+"?"+query.Encode(), nil))
	return w.Body.String()
}
