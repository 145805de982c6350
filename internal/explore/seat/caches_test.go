package seat

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"lockstep/internal/api/route"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
)

// What is left of a shortest way is one, too, but not before where it was found, and not beside it.
func TestAWayIsAHintAtEachStep(t *testing.T) {
	s := New(Limits{}, nil)
	const way = "A:SET expiry B:SET"
	s.noteWay("goal ", way, 1)
	for here, want := range map[string]session.Hint{
		"A:SET":        {Steps: 2, Next: "expiry", Schedule: way},
		"A:SET expiry": {Steps: 1, Next: "B:SET", Schedule: way},
		way:            {Steps: 0, Schedule: way},
	} {
		if hint, known := s.hints.Get("goal " + here); !known || hint != want {
			t.Errorf("after %q: %+v, %t; want %+v", here, hint, known, want)
		}
	}
	for _, here := range []string{"", "B:SET", "A:SET A:GET", way + " A:GET"} {
		if hint, known := s.hints.Get("goal " + here); known {
			t.Errorf("after %q: %+v; want nothing to be known", here, hint)
		}
	}
}

// The map that was used longest ago makes room, and one that is larger than the bound is not kept.
func TestMapsMakeRoom(t *testing.T) {
	v0, err := evolution.Find("v0")
	if err != nil {
		t.Fatal(err)
	}
	one, err := session.Draw(t.Context(), v0, explore.Scenario{Actors: 2}, explore.Bounds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for bound, want := range map[int]string{2 * one.Bytes(): "[b c]", one.Bytes() - 1: "[]"} {
		s := New(Limits{Kept: bound}, nil)
		for _, name := range []string{"a", "b", "c"} {
			s.keepMap(name, one)
		}
		if kept := fmt.Sprint(s.maps.Keys()); kept != want {
			t.Errorf("%s are kept, within %d bytes; want %s", kept, bound, want)
		}
	}
}

// The table and the list of locks are made once, as soon as every row is known, and anew when another row was found. The table that is
// asked for anew is not kept.
func TestTheTableIsKept(t *testing.T) {
	s := New(Usual(), nil)
	defer s.Close()
	if s.rows.Len() != len(evolution.Table()) {
		t.Fatalf("%d rows are shipped", s.rows.Len())
	}
	mux := route.Mux(s.Routes()...)
	ask := func(path string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		return answer
	}
	for _, path := range []string{"/seat", "/seat/table"} {
		before, again, other := ask(path), ask(path+"?x=1"), ask(path+"?lang=zh")
		tag := before.Header().Get("ETag")
		if tag == "" || again.Header().Get("ETag") != tag || other.Header().Get("ETag") == tag || before.Body.String() != again.Body.String() {
			t.Errorf("%s has the tag %q, then %q, and in Chinese %q", path, tag, again.Header().Get("ETag"), other.Header().Get("ETag"))
		}
		row, _ := s.rows.Get("v0")
		row.Seconds++
		row.Cells = nil
		s.keep("v0", row)
		if after := ask(path); after.Body.String() == before.Body.String() {
			t.Errorf("%s: what was found is not told", path)
		}
	}
	fresh := New(Limits{}, nil)
	defer fresh.Close()
	for name, s := range map[string]*Seat{"/seat/table?anew": s, "/seat/table": fresh} {
		if _, constant := s.asFound(httptest.NewRequestWithContext(t.Context(), http.MethodGet, name, http.NoBody)); constant {
			t.Errorf("%s is kept", name)
		}
	}
}
