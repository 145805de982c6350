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

// Each rest of a cached path is a hint, but not before the step where the path was found, and not off the path.
func TestCachedPathGivesHintAtEachStep(t *testing.T) {
	s := New(Limits{}, nil)
	const way = "A:SET expiry B:SET"
	s.cacheShortestPath("goal ", way, 1)
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

// The least recently used map is evicted, and a map larger than the limit is not cached.
func TestMapCacheEvictsLeastRecentlyUsed(t *testing.T) {
	v0, err := evolution.Find("v0")
	if err != nil {
		t.Fatal(err)
	}
	one, err := session.NewDistanceMap(t.Context(), v0, explore.Scenario{Actors: 2}, explore.Bounds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for bound, want := range map[int]string{2 * one.Bytes(): "[b c]", one.Bytes() - 1: "[]"} {
		s := New(Limits{MapBytes: bound}, nil)
		for _, name := range []string{"a", "b", "c"} {
			s.cacheMap(name, one)
		}
		if kept := fmt.Sprint(s.maps.Keys()); kept != want {
			t.Errorf("maps %s are cached within %d bytes; want %s", kept, bound, want)
		}
	}
}

// The table and the index are cached by HTTP as soon as every row is known, until another row is found. The table with the parameter anew
// is not cached.
func TestTableAndIndexAreCached(t *testing.T) {
	s := New(DefaultLimits(), nil)
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
		s.cacheRow("v0", row)
		if after := ask(path); after.Body.String() == before.Body.String() {
			t.Errorf("%s is the same after another row was found; want a new answer", path)
		}
	}
	fresh := New(Limits{}, nil)
	defer fresh.Close()
	for name, s := range map[string]*Seat{"/seat/table?anew": s, "/seat/table": fresh} {
		if _, constant := s.cacheKey(httptest.NewRequestWithContext(t.Context(), http.MethodGet, name, http.NoBody)); constant {
			t.Errorf("%s has a cache key; want none", name)
		}
	}
}
