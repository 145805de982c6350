package seat

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock/evolution"
)

// waits takes a place for a client, and waits for its turn. Done is called in the turn, or with the error.
func waits(t *testing.T, turns *turns, client string, done func(error)) (leave func()) {
	t.Helper()
	ticket, err := turns.join(client)
	if err != nil {
		t.Fatal(client, err)
	}
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		defer ticket.Leave()
		end, err := ticket.begin(ctx, func() {})
		done(err)
		if err == nil {
			end()
		}
	}()
	synctest.Wait()
	return leave
}

// A client with many places gets every other turn, if one other waits; one that has left is passed over.
func TestClientsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(10)
		first, err := turns.join("hog")
		if err != nil {
			t.Fatal(err)
		}
		end, err := first.begin(t.Context(), func() {})
		if err != nil {
			t.Fatal(err)
		}
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
		first.Leave()
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
		turns := newTurns(line)
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
			if _, err := turns.join("A"); err != nil && !errors.Is(err, ErrBusy) {
				t.Error(err)
			}
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
	s := New(limits)
	ticket, err := s.runs.join("another")
	if err != nil {
		t.Fatal(err)
	}
	defer ticket.Leave()
	end, err := ticket.begin(t.Context(), func() {})
	if err != nil {
		t.Fatal(err)
	}
	v2, unknown := evolution.Find("v2")
	v3, alike := evolution.Find("v3")
	in, bad := explore.ParseScenario("--faults expiry=1")
	if err := errors.Join(unknown, alike, bad); err != nil {
		t.Fatal(err)
	}
	p := Place{Strategy: v2, Scenario: in, Schedule: "A:SET"}
	asks := map[string]func(context.Context) error{
		"state":    func(ctx context.Context) error { _, err := s.State(ctx, "", p); return err },
		"document": func(ctx context.Context) error { _, err := s.Document(ctx, "", p, ""); return err },
		"beside":   func(ctx context.Context) error { _, err := s.Beside(ctx, "", p, v3); return err },
		"session":  func(ctx context.Context) error { _, err := s.Session(ctx, "", p); return err }, // of a hint and an oracle
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	for name, ask := range asks {
		if err := ask(t.Context()); !errors.Is(err, ErrBusy) {
			t.Errorf("%s in another's turn: %v; want ErrBusy", name, err)
		}
		if err := ask(left); !errors.Is(err, ErrLeft) {
			t.Errorf("%s, and the reader has left: %v", name, err)
		}
	}
	if _, err := s.Solve(t.Context(), "", "v0", "A:GET B:GET A:write B:write"); !errors.Is(err, ErrBusy) {
		t.Errorf("a level is solved in another's turn: %v; want ErrBusy", err)
	}
	end()
	s.limits.Run = time.Nanosecond
	for name, ask := range asks {
		if err := ask(t.Context()); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s takes too long: %v; want it to be said", name, err)
		}
	}
}
