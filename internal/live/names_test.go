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

// No frame but the run frame names a host: sales are A, B, C …, and each replica keeps its place in a run.
func TestFramesContainNoHostNames(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v2")
	_, url := serveHub(t, shop)
	s := newScript("one")
	s.sale("shop-z#7", 0, 0, 5000, 200)
	s.sale("shop-a#3", 700, 3001, 8001, 200)
	slices.SortStableFunc(s.events, func(a, b witness.Event) int { return a.Replied.Compare(b.Replied) })
	shop.play(s.events...)
	w := openStream(t, url, "en", "")
	w.readUntil("finding", "A removed B's lock")
	var lanes live.LanesFrame
	decodeFrame(t, w.readUntil("lanes", `"name":"B"`), &lanes)
	if one := lanes.Sales[1]; one.Replica != "r2" || lanes.Rail[1].Holder != "B" || lanes.Rail[1].Replica != "r2" {
		t.Errorf("got lanes %+v, want B at r2", lanes)
	}
	if run := w.readUntil("run", `"replicas":["r1","r2"]`); !strings.Contains(run.data, `"hosts":{"r1":"shop-z","r2":"shop-a"}`) {
		t.Errorf("got run %s, want the hosts in their places", run.data)
	}
	next := newScript("two")
	next.sale("shop-a#4", 20000, 20000, 20010, 200)
	shop.set(func(look *live.RunState) { look.Report.RunID = "two" })
	shop.play(next.events...)
	w.readUntil("sections", `[{"sale":"A","replica":"r1"`)
	for _, f := range w.seen {
		if f.name != "run" && strings.Contains(f.data, "shop-") {
			t.Errorf("got frame %v, want no host in it", f)
		}
	}
}

// A host may have the name of a word: sentences are not changed by it. Sales are also found by their own names.
func TestHostNamedLikeWordChangesNoSentence(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v2")
	_, url := serveHub(t, shop)
	s := newScript("one")
	s.sale("lock#7", 0, 0, 5000, 200)
	s.sale("takes#3", 700, 3001, 8001, 200)
	slices.SortStableFunc(s.events, func(a, b witness.Event) int { return a.Replied.Compare(b.Replied) })
	shop.play(s.events...)
	openStream(t, url, "en", "").readUntil("finding", "A removed B's lock")
	for _, query := range []string{"a=A&b=B", "a=lock%237&b=takes%233"} {
		response, err := http.Get(url + "/live/pair?lang=en&" + query) //nolint:noctx // a test
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close() // already read
		if err != nil || !strings.Contains(string(text), `"actors":["A","B"]`) || !strings.Contains(string(text), "A takes the lock") {
			t.Errorf("%s: %d %s, %v", query, response.StatusCode, text, err)
		}
	}
}

// A run that goes on is UNKNOWN, and so is its end if the lock let two sales in; lost updates are counted as the ledger counts them.
func TestTallyIsNotPassOnceTwoWereInCriticalSection(t *testing.T) {
	t.Parallel()
	for lock, end := range map[string]string{"v2": "UNKNOWN", "v7": "PASS"} {
		shop := newFakeShop(lock)
		_, url := serveHub(t, shop)
		sold := func(inFlight int64) {
			shop.set(func(look *live.RunState) {
				look.Report.Sold, look.Report.Remaining, look.Report.InFlight = 2, 198, inFlight
				look.Report.MaxInFlight, look.Report.Verdict = 2, verdict.Pass
			})
		}
		sold(1)
		w := openStream(t, url, "en", "")
		w.readUntil("tally", `"in_flight":1,"max_in_flight":2,"verdict":"UNKNOWN"`)
		shop.play(foreignDelete()...)
		w.readUntil("finding", "A removed B's lock")
		sold(0)
		w.readUntil("tally", `"in_flight":0,"max_in_flight":2,"verdict":"`+end+`"`)
		shop.set(func(look *live.RunState) { look.Report.Lost, look.Report.Verdict = 7, verdict.Oversold })
		w.readUntil("tally", `"lost-update":7`)
	}
}

func TestSalesAreLettered(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v4")
	_, url := serveHub(t, shop)
	s := newScript("one")
	for i := range 30 {
		s.sale(fmt.Sprintf("r1#%d", i+1), 10*i, 10*i, 10*i+5, int64(200-i))
	}
	shop.play(s.events...)
	w := openStream(t, url, "en", "")
	w.readUntil("sections", `"sale":"AD"`)
	for _, letter := range []string{"Z", "AA"} {
		if !slices.ContainsFunc(w.seen, func(f frame) bool { return strings.Contains(f.data, `"sale":"`+letter+`"`) }) {
			t.Errorf("got no sale %s", letter)
		}
	}
}
