package lab

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/verdict"
	"lockstep/internal/witness"
)

// For a crowd of buyers a lab draws only the sales that matter, and says which it omits. The result has all of them. Buyers with the same
// answer share a line.
func TestDrawingOfACrowdOmitsSales(t *testing.T) {
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
		"  2 buyers at r1 got HTTP 200 after 1.0 to 2.0 s\n  the buyer at r1 got HTTP 503 after 0.0 s\n",
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

// A result that says that a lock keeps its promise also names the other anomalies that were found. A long wait, a refused token and an
// overlap shorter than a millisecond are none.
func TestHoldsNamesWhatElseWentWrong(t *testing.T) {
	r := named(t, "foreign-delete").judge("v3", witness.Account{}, nil, language.English)
	r.Observed, r.Findings = verdict.Holds, []witness.Finding{
		{Kind: witness.Overlapped}, {Kind: witness.WaitedLong}, {Kind: witness.LostUpdate}, {Kind: witness.RefusedToken},
		{Kind: witness.LostUpdate},
	}
	const head = "v3 keeps its promise: nobody removes a lock that is another's"
	if s := r.Present(); s.Headline != head || s.Lapses != "Still seen, and not promised: Two holders · Lost update" ||
		!strings.Contains(r.Text("lockstep", ""), "\n"+s.Lapses+"\n") {
		t.Errorf("it says %q, %q", s.Headline, s.Lapses)
	}
	r.Findings = r.Findings[1:2]
	if s := r.Present(); s.Headline != head || s.Lapses != "" {
		t.Errorf("if nothing went wrong it says %q, %q", s.Headline, s.Lapses)
	}
	r.tolerates = named(t, "renewal-outage").tolerates
	r.Findings = []witness.Finding{{Kind: witness.Overlapped, Duration: witness.Millis(lossNoticeSlack)}, {Kind: witness.LostUpdate}}
	if s := r.Present(); s.Lapses != "Both were inside for less than 0.5 s: a timer on a busy machine may be that late, so it does not "+
		"count. Still seen, and not promised: Lost update" {
		t.Errorf("of an overlap that the lab does not count it says %q", s.Lapses)
	}
	r.Observed, r.Sentence, r.Findings = verdict.Broken, "r1#1 removed r2#1's lock", []witness.Finding{{Kind: witness.LostUpdate}}
	if s := r.Present(); s.Headline != "v3 is broken: r1#1 removed r2#1's lock" || s.Lapses != "" ||
		!strings.HasPrefix(s.Reasoning, "Expected verdict: holds: ") {
		t.Errorf("of a broken one it says %q, %q, %q", s.Headline, s.Reasoning, s.Lapses)
	}
}
