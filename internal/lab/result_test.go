package lab

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/witness"
)

// Of a crowd a lab draws the sales that matter, and says whom it leaves out. The result has all. Buyers with the same answer are one line.
func TestACrowdIsNotDrawnWhole(t *testing.T) {
	var events []witness.Event
	for i := range 5 {
		sale := fmt.Sprintf("r1#%d", i+1)
		events = append(events, obtainsAt(sale), endsAt(sale, ""))
	}
	r := named(t, "starvation").judge("v8", witness.Examine(moments(events...)), nil, language.English)
	r.Answers = []Answer{{Sale: "r1", Status: 200, Seconds: 2}, {Sale: "r1", Status: 503}, {Sale: "r1", Status: 200, Seconds: 1}}
	text := r.Text("lockstep", "")
	for _, want := range []string{
		"     r1#1     r1#2     r1#3   Redis\n", "Not drawn: 2 later sales, r1#4, r1#5.",
		"  2 buyers at r1 got 200 after 1.0 to 2.0 s\n  the buyer at r1 got 503 after 0.0 s\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing of %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "r1#4 has sold") || !strings.Contains(text, "r1#3 has sold") || len(r.Trace.Actors) != 5 {
		t.Errorf("drawn of %v:\n%s", r.Trace.Actors, text)
	}
	r.draws = 0
	if text := r.Text("lockstep", ""); strings.Contains(text, "Not drawn") || !strings.Contains(text, "r1#5 has sold") {
		t.Errorf("of all is drawn:\n%s", text)
	}
}
