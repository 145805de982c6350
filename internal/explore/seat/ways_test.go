package seat

import (
	"fmt"
	"testing"

	"lockstep/internal/explore/session"
)

// What is left of a shortest way is one, too, but not before where it was found, and not beside it.
func TestAWayIsAHintAtEachStep(t *testing.T) {
	var w ways
	w.note("goal", 1, "A:SET expiry B:SET")
	for here, want := range map[string]session.Hint{
		"A:SET":              {Steps: 2, Next: "expiry", Schedule: "A:SET expiry B:SET"},
		"A:SET expiry":       {Steps: 1, Next: "B:SET", Schedule: "A:SET expiry B:SET"},
		"A:SET expiry B:SET": {Steps: 0, Schedule: "A:SET expiry B:SET"},
	} {
		if hint, known := w.after("goal", here); !known || hint != want {
			t.Errorf("after %q: %+v, %t; want %+v", here, hint, known, want)
		}
	}
	for _, here := range []string{"", "B:SET", "A:SET A:GET", "A:SET expiry B:SET A:GET"} {
		if hint, known := w.after("goal", here); known {
			t.Errorf("after %q: %+v; want nothing to be known", here, hint)
		}
	}
	if hint, known := w.after("another", "A:SET"); known {
		t.Errorf("%+v for another goal", hint)
	}
	for i := range mostWays {
		w.note(fmt.Sprint(i), 0, "A:GET")
	}
	if _, known := w.after("goal", "A:SET"); known || len(w.known) != mostWays {
		t.Errorf("%d ways are kept; want the latest %d", len(w.known), mostWays)
	}
}
