// Outcomes prints what ten explorations find, and what the scheduler's seat answers. Its test runs it in WebAssembly, too.
//
//	go run ./internal/test/outcomes
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"

	"lockstep/internal/explore"
	"lockstep/internal/explore/seat"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
)

func main() {
	if err := outcomes(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "outcomes:", err)
		os.Exit(1)
	}
}

func outcomes(ctx context.Context, w io.Writer) error {
	s := seat.New(seat.Usual(), seat.Errors{
		Status: func(error) (int, string) { return http.StatusInternalServerError, "" },
		Write:  func(w http.ResponseWriter, status int, _ string, err error) { http.Error(w, err.Error(), status) },
	})
	defer s.Close()
	for _, each := range [][2]string{
		{"v0", ""},
		{"v2", "--faults expiry=1"},
		{"v3", "--actors 3 --faults crash=1"}, // actors that are interchangeable
		{"v4", "--nested 1"},
		{"v6", "--faults expiry=1"},     // a goroutine that renews
		{"v10", "--faults lost-wake=1"}, // messages
		{"redlock", "--try 2"},          // a goroutine a node
		{"delex", "--faults lost-reply=1"},
		{"optimistic", "--faults pause=1"},
		{"v5", "--nested 1 --work 25s"},
	} {
		if err := explored(ctx, w, s, each[0], each[1]); err != nil {
			return fmt.Errorf("%s %s: %w", each[0], each[1], err)
		}
	}
	if err := refused(ctx, w); err != nil {
		return err
	}
	return seated(ctx, w, s)
}

// refused prints what is said of a lock that moves behind the explorer's back.
func refused(ctx context.Context, w io.Writer) error {
	blind, err := evolution.Find("v4")
	if err != nil {
		return err
	}
	inner := blind.New
	blind.New = func(parts strategy.Parts) lock.Locker { return elsewhere{inner(parts)} }
	_, err = explore.Explore(ctx, blind, explore.Scenario{Actors: 2}, explore.Goal{}, explore.Bounds{})
	fmt.Fprintln(w, err)
	return nil
}

// elsewhere takes the lock in a goroutine of its own.
type elsewhere struct{ lock.Locker }

func (e elsewhere) Lock(ctx context.Context, owner string) (lease *lock.Lease, err error) {
	var all sync.WaitGroup
	all.Go(func() { lease, err = e.Locker.Lock(ctx, owner) }) // a go statement here would be found in the code, but not in WebAssembly's
	all.Wait()
	return lease, err
}

// seated prints what the seat answers at one place.
func seated(ctx context.Context, w io.Writer, s *seat.Seat) error {
	place := url.Values{
		"lock": {"v2"}, "with": {"v3"}, "anomaly": {string(anomaly.TwoHolders)},
		"in": {"--actors 2 --faults expiry=1"}, "do": {"A:SET expiry"},
	}
	for _, path := range []string{"/seat/state", "/seat/hint", "/seat/beside", "/seat/oracle"} {
		text, err := lastLine(ctx, s, path, place)
		if err != nil {
			return err
		}
		fmt.Fprintln(w, path, text)
	}
	return nil
}

// explored prints what the seat finds in an exploration to the end of the scenario.
func explored(ctx context.Context, w io.Writer, s *seat.Seat, name, flags string) error {
	text, err := lastLine(ctx, s, "/seat/explore", url.Values{"lock": {name}, "in": {flags}, "each": {"true"}})
	if err != nil {
		return err
	}
	var e seat.Explored
	if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "data: ")), &e); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	fmt.Fprintf(w, "%s %s\n%s\n%s\n", name, flags, e.Says, e.Seen)
	for i, found := range e.Document.Counterexamples {
		fmt.Fprintf(w, "  %s: %s\n  %s\n", found.Anomaly, found.Schedule, e.Links[i])
	}
	return nil
}

// lastLine gives the last line of what the seat answers: before it, a stream says how far it is.
func lastLine(ctx context.Context, s *seat.Seat, path string, query url.Values) (string, error) {
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, path+"?"+query.Encode(), nil))
	if answer.Code != http.StatusOK {
		return "", fmt.Errorf("%s: %d %s", path, answer.Code, answer.Body)
	}
	lines := strings.Split(strings.TrimSpace(answer.Body.String()), "\n")
	return lines[len(lines)-1], nil
}
