package live_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/live"
	"lockstep/internal/verdict"
	"lockstep/internal/witness"
)

// Nothing that is drawn has a host's name: sales are A, B, C …, and each replica keeps its place in a run.
func TestNoHostIsNamed(t *testing.T) {
	t.Parallel()
	shop := newStage("v2")
	_, url := show(t, shop)
	s := newScript("one")
	s.sale("shop-z#7", 0, 0, 5000, 200)
	s.sale("shop-a#3", 700, 3001, 8001, 200)
	slices.SortStableFunc(s.all, func(a, b witness.Event) int { return a.Replied.Compare(b.Replied) })
	shop.play(s.all...)
	w := watch(t, url, "en", "")
	w.until("finding", "A removed B's lock")
	var lanes live.LanesFrame
	decode(t, w.until("lanes", `"name":"B"`), &lanes)
	if one := lanes.Sales[1]; one.Replica != "r2" || lanes.Rail[1].Holder != "B" || lanes.Rail[1].Replica != "r2" {
		t.Errorf("the lanes are %+v", lanes)
	}
	if run := w.until("run", `"replicas":["r1","r2"]`); !strings.Contains(run.data, `"hosts":{"r1":"shop-z","r2":"shop-a"}`) {
		t.Errorf("the run is %s", run.data)
	}
	next := newScript("two")
	next.sale("shop-a#4", 20000, 20000, 20010, 200)
	shop.set(func(look *live.RunState) { look.Report.RunID = "two" })
	shop.play(next.all...)
	w.until("sections", `[{"sale":"A","replica":"r1"`)
	for _, f := range w.seen {
		if f.name != "run" && strings.Contains(f.data, "shop-") {
			t.Errorf("a frame names a host: %v", f)
		}
	}
}

// A host may be called like a word: the sentences about two sales stay as they are. The sales are also found by their own names.
func TestAHostsNameIsNoWord(t *testing.T) {
	t.Parallel()
	shop := newStage("v2")
	_, url := show(t, shop)
	s := newScript("one")
	s.sale("lock#7", 0, 0, 5000, 200)
	s.sale("takes#3", 700, 3001, 8001, 200)
	slices.SortStableFunc(s.all, func(a, b witness.Event) int { return a.Replied.Compare(b.Replied) })
	shop.play(s.all...)
	watch(t, url, "en", "").until("finding", "A removed B's lock")
	for _, query := range []string{"a=A&b=B", "a=lock%237&b=takes%233"} {
		response, err := http.Get(url + "/live/pair?lang=en&" + query) //nolint:noctx // a test
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close() // it was read
		if err != nil || !strings.Contains(string(text), `"actors":["A","B"]`) || !strings.Contains(string(text), "A takes the lock") {
			t.Errorf("%s: %d %s, %v", query, response.StatusCode, text, err)
		}
	}
}

// So far is UNKNOWN, and so is the end if the lock let two in; what is lost is counted as the ledger counts it.
func TestNoPassBesideWhatWentWrong(t *testing.T) {
	t.Parallel()
	for lock, end := range map[string]string{"v2": "UNKNOWN", "v7": "PASS"} {
		shop := newStage(lock)
		_, url := show(t, shop)
		sold := func(inFlight int64) {
			shop.set(func(look *live.RunState) {
				look.Report.Sold, look.Report.Remaining, look.Report.InFlight = 2, 198, inFlight
				look.Report.MaxInFlight, look.Report.Verdict = 2, verdict.Pass
			})
		}
		sold(1)
		w := watch(t, url, "en", "")
		w.until("tally", `"in_flight":1,"max_in_flight":2,"verdict":"UNKNOWN"`)
		shop.play(foreignDelete()...)
		w.until("finding", "A removed B's lock")
		sold(0)
		w.until("tally", `"in_flight":0,"max_in_flight":2,"verdict":"`+end+`"`)
		shop.set(func(look *live.RunState) { look.Report.Lost, look.Report.Verdict = 7, verdict.Oversold })
		w.until("tally", `"lost-update":7`)
	}
}

func TestLetters(t *testing.T) {
	t.Parallel()
	shop := newStage("v4")
	_, url := show(t, shop)
	s := newScript("one")
	for i := range 30 {
		s.sale(fmt.Sprintf("r1#%d", i+1), 10*i, 10*i, 10*i+5, int64(200-i))
	}
	shop.play(s.all...)
	w := watch(t, url, "en", "")
	w.until("sections", `"sale":"AD"`)
	for _, letter := range []string{"Z", "AA"} {
		if !slices.ContainsFunc(w.seen, func(f frame) bool { return strings.Contains(f.data, `"sale":"`+letter+`"`) }) {
			t.Errorf("there is no sale %s", letter)
		}
	}
}
