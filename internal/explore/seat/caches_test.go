package seat

import (
	"fmt"
	"testing"

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
