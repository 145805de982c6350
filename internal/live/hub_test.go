package live_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/live"
	"lockstep/internal/verdict"
	"lockstep/internal/witness"
)

// A foreign release of v2 is shown as a finding with an explanation, in both languages, and in the lanes and the rail.
func TestHubShowsForeignRelease(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v2")
	_, url := serveHub(t, shop)
	shop.play(foreignDelete()...)
	english, chinese := openStream(t, url, "en", ""), openStream(t, url, "zh", "")
	var run live.RunFrame
	decodeFrame(t, english.readUntil("run", `"fresh":true`), &run)
	if run.RunID != "one" || run.Lock != "v2" || run.Title != "with an expiry" {
		t.Errorf("got run %+v, want one of v2 with its title", run)
	}
	var removed live.FindingFrame
	decodeFrame(t, english.readUntil("finding", "A removed B's lock"), &removed)
	if removed.At != 5000 || !removed.Bad || removed.Explanation == "" || !slices.Equal(removed.Sales, []string{"A", "B"}) {
		t.Errorf("got finding %+v, want a bad one at 5000 about A and B, with an explanation", removed)
	}
	chinese.readUntil("finding", "A 删除了 B 的锁")
	chinese.readUntil("story", `"says":"B 进入临界区时，A 还在执行","sales":["B","A"],"after":[1],"bad":false}`)
	var story live.StoryFrame
	decodeFrame(t, english.readUntil("story", `"says":"A removed B's lock","sales":["A","B"],"after":[2],"bad":true}`), &story)
	checkLanes(t, story.Picture)
	shop.set(func(look *live.RunState) {
		look.Report.Sold, look.Report.Remaining, look.Report.Lost, look.Report.Verdict = 2, 199, 1, verdict.Oversold
	})
	english.readUntil("tally", "2 sold, but the stock fell by 1 only: 1 update was lost")
	chinese.readUntil("tally", "卖出 2 件，库存只减了 1 件：丢失了 1 次扣减，这些库存会被重复售出")
}

func checkLanes(t *testing.T, lanes live.LanesFrame) {
	t.Helper()
	var spans []string
	for _, lane := range lanes.Sales {
		text := lane.Name
		for _, span := range lane.Spans {
			text += fmt.Sprintf(" %s %d-%d", span.Kind, span.From, *span.To)
		}
		spans = append(spans, text+" "+lane.End)
	}
	want := []string{"A inside 0-3000 late 3000-5000 sold", "B waits 700-3001 inside 3001-5000 late 5000-8001 sold"}
	if !slices.Equal(spans, want) {
		t.Errorf("got lanes\n%q, want\n%q", spans, want)
	}
	var rail []string
	for _, stay := range lanes.Rail {
		rail = append(rail, fmt.Sprintf("%s %d-%d %s %s, expires %d", stay.Holder, stay.From, *stay.To, stay.End, stay.EndedBy, *stay.Expires))
	}
	if want := []string{"A 0-3000 expired , expires 3000", "B 3001-5000 removed A, expires 6001"}; !slices.Equal(rail, want) {
		t.Errorf("got rail\n%q, want\n%q", rail, want)
	}
}

// A foreign release is shown in the sections, in the stock and as an overlap.
func TestHubShowsSectionsAndStock(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v2")
	_, url := serveHub(t, shop)
	shop.play(foreignDelete()...)
	w := openStream(t, url, "en", "")
	w.readUntil("finding", "A and B were in the critical section together for 2.0 s")
	w.readUntil("stock", `{"at":8001,"stock":199,"sold":2}`)
	sections := w.seen[slices.IndexFunc(w.seen, func(f frame) bool { return f.name == "sections" })]
	want := `[{"sale":"A","replica":"r1","from":0,"to":5000,"overlaps":["B"],"with":1},` +
		`{"sale":"B","replica":"r2","from":3001,"to":8001,"overlaps":["A"],"with":1}]`
	if sections.data != want {
		t.Errorf("got sections\n%s, want\n%s", sections.data, want)
	}
	response, err := http.Get(url + "/live/pair?a=A&b=B&lang=en") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var drawn struct {
		Actors []string
		Steps  []struct{ Says string }
	}
	if err := json.NewDecoder(response.Body).Decode(&drawn); err != nil {
		t.Fatal(err)
	}
	sentences := ""
	for _, step := range drawn.Steps {
		sentences += step.Says + "\n"
	}
	if !strings.Contains(sentences, "A removed B's lock") || !slices.Equal(drawn.Actors, []string{"A", "B"}) {
		t.Errorf("got trace %+v, want A's removal of B's lock", drawn)
	}
	shop.set(func(look *live.RunState) { look.Report.Sold, look.Report.Remaining = 2, 198 })
	w.readUntil("stock", `[{"at":8002,"stock":198,"sold":2}]`) // The lines end with what Redis says, whichever reply came last.
}

// Two sales are drawn from the first request for the lock, though one of them asked again for a nested call.
func TestPairIsDrawnFromFirstRequest(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v4")
	_, url := serveHub(t, shop)
	s := newScript("one")
	s.moment(0, "r1#1", witness.KindAsks)
	s.command(1, "r1#1", witness.Command{Verb: witness.Takes, TTL: witness.Millis(time.Hour)})
	s.moment(2, "r1#1", witness.KindObtains)
	s.moment(50, "r2#1", witness.KindAsks)
	s.moment(100, "r1#1", witness.KindAsks)
	s.moment(200, "r2#1", witness.KindEnds)
	shop.play(s.events...)
	openStream(t, url, "en", "").readUntil("lanes", `"name":"B"`)
	response, err := http.Get(url + "/live/pair?a=A&b=B&lang=en") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(text), "A takes the lock") {
		t.Errorf("got %v and trace %s, want it to begin with A's lock", err, text)
	}
}

// A new run replaces the old one, and its events before the run is known are not lost.
func TestNewRunReplacesOld(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v2")
	_, url := serveHub(t, shop)
	shop.play(foreignDelete()...)
	w := openStream(t, url, "en", "")
	w.readUntil("sections", `"sale":"B"`)
	next := newScript("two")
	next.sale("r1#2", 20000, 20000, 20010, 50)
	shop.set(func(look *live.RunState) { look.Report.RunID, look.Report.Lock, look.Report.Initial = "two", "v4", 50 })
	shop.play(next.events...)
	w.readUntil("run", `"run_id":"two"`)
	w.readUntil("sections", `[{"sale":"A","replica":"r1","from":0,"to":10,`)
	late := openStream(t, url, "en", "")
	late.readUntil("sections", `"sale":"A"`)
	for _, f := range late.seen {
		if strings.Contains(f.data, `"B"`) {
			t.Errorf("got frame %v of the run before", f)
		}
	}
}

// A stopped replica shows as a pause in the lanes of its sales, and a dead one ends them.
func TestLaneShowsPauseAndDeath(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v4")
	hub, url := serveHub(t, shop)
	s := newScript("one")
	s.moment(0, "r1#1", witness.KindAsks)
	s.command(0, "r1#1", witness.Command{Verb: witness.Takes, TTL: witness.Millis(time.Hour)})
	s.moment(0, "r1#1", witness.KindObtains)
	shop.play(s.events...)
	w := openStream(t, url, "en", "")
	w.readUntil("lanes", `"name":"A"`)
	s.moment(100, "r1", witness.KindStops)
	s.moment(300, "r1", witness.KindResumes)
	s.moment(400, "r1", witness.KindDies)
	for _, event := range s.events[len(s.events)-3:] {
		hub.Note(event)
	}
	w.readUntil("finding", "r1 stops, timers and all")
	w.readUntil("finding", "r1 dies")
	w.readUntil("lanes", `"spans":[{"kind":"inside","from":0,"to":100},{"kind":"paused","from":100,"to":300},`+
		`{"kind":"inside","from":300,"to":400}],"ended":"died"`)
}

// A provisional finding that no longer holds still counts: a lock that was left behind, and then removed by hand.
func TestProvisionalFindingStaysCounted(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v1")
	_, url := serveHub(t, shop)
	s := newScript("one")
	s.moment(0, "r1#1", witness.KindAsks)
	s.command(0, "r1#1", witness.Command{Verb: witness.Takes})
	s.moment(0, "r1#1", witness.KindObtains)
	s.moment(100, "r1", witness.KindDies)
	shop.play(s.events...)
	w := openStream(t, url, "en", "")
	w.readUntil("finding", "A is gone, and its lock stays")
	w.readUntil("tally", `"left-behind":1`)
	s.command(500, "r2", witness.Command{Verb: witness.Removes, Forced: true})
	shop.play(s.events[len(s.events)-1])
	var tally live.TallyFrame
	decodeFrame(t, w.readUntil("tally", `"removed":1`), &tally)
	if tally.FindingCounts["left-behind"] != 1 {
		t.Errorf("got counts %v, want the lock that was left behind", tally.FindingCounts)
	}
}

// Events of a replica that was stopped, or whose stream was slow, come late. The run is replayed with them in their places: it has no
// findings, and those from before are not sent again.
func TestLateEventsCauseNoFindings(t *testing.T) {
	t.Parallel()
	s := newScript("one")
	s.sale("r1#1", 0, 0, 100, 200)
	s.sale("r2#1", 50, 101, 200, 199)
	s.sale("r1#2", 60, 201, 300, 198)
	s.sale("r2#2", 150, 301, 400, 197)
	s.sale("r1#3", 250, 401, 500, 196)
	inOrder := witness.InOrder(s.events)
	of := func(sales ...string) func(witness.Event) bool {
		return func(e witness.Event) bool { return slices.Contains(sales, e.Sale) }
	}
	rows := map[string]struct {
		late  func(witness.Event) bool
		after int // milliseconds: late events are sent after all others up to this time, and before the rest
	}{
		"a sale, while another holds the lock":      {of("r2#1"), 250},
		"a sale, when all is over":                  {of("r2#1"), 500},
		"all sales of a replica":                    {of("r2#1", "r2#2"), 450},
		"the first sale of all":                     {of("r1#1"), 350},
		"that a sale has left, and what follows it": {func(e witness.Event) bool { return e.Replica == "r2" && e.Replied.After(s.at(150)) }, 450},
		"that a sale took the lock":                 {func(e witness.Event) bool { return of("r2#1")(e) && e.Replied.Equal(s.at(101)) }, 150},
		"a release": {
			func(e witness.Event) bool {
				return of("r2#1")(e) && e.Command != nil && e.Command.Verb == witness.Removes
			}, 450,
		},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var early, late, rest []witness.Event
			for _, event := range inOrder {
				switch {
				case row.late(event) && !event.Replied.After(s.at(row.after)):
					late = append(late, event)
				case event.Replied.After(s.at(row.after)):
					rest = append(rest, event)
				default:
					early = append(early, event)
				}
			}
			shop := newFakeShop("v4")
			_, url := serveHub(t, shop)
			shop.play(early...)
			w := openStream(t, url, "en", "")
			w.readUntil("lanes", `"name":"A"`)
			shop.play(late...)
			w.readUntil("run", `"fresh":true`)
			shop.play(rest...)
			seenBefore := len(w.seen)
			shop.set(func(look *live.RunState) { look.Report.Sold, look.Report.Remaining = 5, 195 })
			ended := 0
			for ended < 5 {
				var lanes live.LanesFrame
				decodeFrame(t, w.readUntil("lanes", ""), &lanes)
				ended = 0
				for _, lane := range lanes.Sales {
					if lane.End == "sold" {
						ended++
					}
				}
			}
			var tally live.TallyFrame
			decodeFrame(t, w.readUntil("tally", `"sold":5`), &tally)
			for _, bad := range []witness.FindingKind{
				witness.Overlapped, witness.RemovedLock, witness.WroteLate, witness.LostUpdate, witness.ExpiredAtWork,
			} {
				if n := tally.FindingCounts[string(bad)]; n > 0 {
					t.Errorf("got %d × %s, want none", n, bad)
				}
			}
			for _, f := range w.seen[seenBefore:] {
				if f.name == "finding" && strings.Contains(f.data, `"bad":true`) {
					t.Errorf("got bad finding %s after the replay, want none", f.data)
				}
			}
		})
	}
}
