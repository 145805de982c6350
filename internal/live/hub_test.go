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

// The foreign delete of v2 is seen, named, and explained in both languages; the lanes and the rail show it.
func TestForeignDelete(t *testing.T) {
	t.Parallel()
	shop := newStage("v2")
	_, url := show(t, shop)
	shop.play(foreignDelete()...)
	english, chinese := watch(t, url, "en", ""), watch(t, url, "zh", "")
	var run live.RunFrame
	decode(t, english.until("run", `"fresh":true`), &run)
	if run.RunID != "one" || run.Lock != "v2" || run.Title != "with an expiry" {
		t.Errorf("the run is %+v", run)
	}
	var removed live.FindingFrame
	decode(t, english.until("finding", "A removed B's lock"), &removed)
	if removed.At != 5000 || !removed.Bad || removed.Explanation == "" || !slices.Equal(removed.Sales, []string{"A", "B"}) {
		t.Errorf("it is told as %+v", removed)
	}
	chinese.until("finding", "A 删除了 B 的锁")
	chinese.until("story", `"says":"B 进去了，A 还在执行","sales":["B","A"],"after":[1],"bad":false}`)
	var story live.StoryFrame
	decode(t, english.until("story", `"says":"A removed B's lock","sales":["A","B"],"after":[2],"bad":true}`), &story)
	checkLanes(t, story.Picture)
	shop.set(func(look *live.RunState) {
		look.Report.Sold, look.Report.Remaining, look.Report.Lost, look.Report.Verdict = 2, 199, 1, verdict.Oversold
	})
	english.until("tally", "2 sold, but the stock fell by 1 only: 1 update was lost")
	chinese.until("tally", "卖出 2 件，库存只减了 1 件：丢失了 1 次扣减，这些件还能再卖一次")
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
		t.Errorf("the lanes are\n%q; want\n%q", spans, want)
	}
	var rail []string
	for _, stay := range lanes.Rail {
		rail = append(rail, fmt.Sprintf("%s %d-%d %s %s, expires %d", stay.Holder, stay.From, *stay.To, stay.End, stay.EndedBy, *stay.Expires))
	}
	if want := []string{"A 0-3000 expired , expires 3000", "B 3001-5000 removed A, expires 6001"}; !slices.Equal(rail, want) {
		t.Errorf("the rail is\n%q; want\n%q", rail, want)
	}
}

// What is sections, stock, and two that were inside together.
func TestSectionsAndStock(t *testing.T) {
	t.Parallel()
	shop := newStage("v2")
	_, url := show(t, shop)
	shop.play(foreignDelete()...)
	w := watch(t, url, "en", "")
	w.until("finding", "A and B were in the critical section together for 2.0 s")
	w.until("stock", `{"at":8001,"stock":199,"sold":2}`)
	sections := w.seen[slices.IndexFunc(w.seen, func(f frame) bool { return f.name == "sections" })]
	want := `[{"sale":"A","replica":"r1","from":0,"to":5000,"overlaps":["B"],"with":1},` +
		`{"sale":"B","replica":"r2","from":3001,"to":8001,"overlaps":["A"],"with":1}]`
	if sections.data != want {
		t.Errorf("the sections are\n%s; want\n%s", sections.data, want)
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
	said := ""
	for _, step := range drawn.Steps {
		said += step.Says + "\n"
	}
	if !strings.Contains(said, "A removed B's lock") || !slices.Equal(drawn.Actors, []string{"A", "B"}) {
		t.Errorf("the two are drawn as %+v", drawn)
	}
	shop.set(func(look *live.RunState) { look.Report.Sold, look.Report.Remaining = 2, 198 })
	w.until("stock", `[{"at":8002,"stock":198,"sold":2}]`) // the lines end with what Redis says, whichever reply came last
}

// Two sales are drawn from when the first of them asked for the lock, though one asked again for a nested call.
func TestAPairIsDrawnFromItsBeginning(t *testing.T) {
	t.Parallel()
	shop := newStage("v4")
	_, url := show(t, shop)
	s := newScript("one")
	s.moment(0, "r1#1", witness.KindAsks)
	s.command(1, "r1#1", witness.Command{Verb: witness.Takes, TTL: witness.Millis(time.Hour)})
	s.moment(2, "r1#1", witness.KindObtains)
	s.moment(50, "r2#1", witness.KindAsks)
	s.moment(100, "r1#1", witness.KindAsks)
	s.moment(200, "r2#1", witness.KindEnds)
	shop.play(s.all...)
	watch(t, url, "en", "").until("lanes", `"name":"B"`)
	response, err := http.Get(url + "/live/pair?a=A&b=B&lang=en") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(text), "A takes the lock") {
		t.Errorf("%v: they are drawn as %s", err, text)
	}
}

// A new run begins everything anew, and what comes before anybody knows of it is not lost.
func TestNewRun(t *testing.T) {
	t.Parallel()
	shop := newStage("v2")
	_, url := show(t, shop)
	shop.play(foreignDelete()...)
	w := watch(t, url, "en", "")
	w.until("sections", `"sale":"B"`)
	next := newScript("two")
	next.sale("r1#2", 20000, 20000, 20010, 50)
	shop.set(func(look *live.RunState) { look.Report.RunID, look.Report.Lock, look.Report.Initial = "two", "v4", 50 })
	shop.play(next.all...)
	w.until("run", `"run_id":"two"`)
	w.until("sections", `[{"sale":"A","replica":"r1","from":0,"to":10,`)
	late := watch(t, url, "en", "")
	late.until("sections", `"sale":"A"`)
	for _, f := range late.seen {
		if strings.Contains(f.data, `"B"`) {
			t.Errorf("of the run before, there is %v", f)
		}
	}
}

// A replica that is stopped shows as a pause in the lanes of its sales, and one that dies ends them.
func TestPauseAndDeath(t *testing.T) {
	t.Parallel()
	shop := newStage("v4")
	hub, url := show(t, shop)
	s := newScript("one")
	s.moment(0, "r1#1", witness.KindAsks)
	s.command(0, "r1#1", witness.Command{Verb: witness.Takes, TTL: witness.Millis(time.Hour)})
	s.moment(0, "r1#1", witness.KindObtains)
	shop.play(s.all...)
	w := watch(t, url, "en", "")
	w.until("lanes", `"name":"A"`)
	s.moment(100, "r1", witness.KindStops)
	s.moment(300, "r1", witness.KindResumes)
	s.moment(400, "r1", witness.KindDies)
	for _, event := range s.all[len(s.all)-3:] {
		hub.Note(event)
	}
	w.until("finding", "r1 stops, timers and all")
	w.until("finding", "r1 dies")
	w.until("lanes", `"spans":[{"kind":"inside","from":0,"to":100},{"kind":"paused","from":100,"to":300},`+
		`{"kind":"inside","from":300,"to":400}],"ended":"died"`)
}

// What was so for some time is counted when it is so no more, too: a lock that was left behind, and then removed by hand.
func TestWhatWasSoIsCounted(t *testing.T) {
	t.Parallel()
	shop := newStage("v1")
	_, url := show(t, shop)
	s := newScript("one")
	s.moment(0, "r1#1", witness.KindAsks)
	s.command(0, "r1#1", witness.Command{Verb: witness.Takes})
	s.moment(0, "r1#1", witness.KindObtains)
	s.moment(100, "r1", witness.KindDies)
	shop.play(s.all...)
	w := watch(t, url, "en", "")
	w.until("finding", "A is gone, and its lock stays")
	w.until("tally", `"left-behind":1`)
	s.command(500, "r2", witness.Command{Verb: witness.Removes, Forced: true})
	shop.play(s.all[len(s.all)-1])
	var tally live.TallyFrame
	decode(t, w.until("tally", `"removed":1`), &tally)
	if tally.FindingCounts["left-behind"] != 1 {
		t.Errorf("found is %v; want the lock that was left behind still", tally.FindingCounts)
	}
}

// A replica that was stopped, or whose stream was slow, tells late what it did. The run is told again with that in its place: nobody is
// charged, and what was charged before is not told any more.
func TestAReplicaThatTellsLateChargesNobody(t *testing.T) {
	t.Parallel()
	s := newScript("one")
	s.sale("r1#1", 0, 0, 100, 200)
	s.sale("r2#1", 50, 101, 200, 199)
	s.sale("r1#2", 60, 201, 300, 198)
	s.sale("r2#2", 150, 301, 400, 197)
	s.sale("r1#3", 250, 401, 500, 196)
	inOrder := witness.InOrder(s.all)
	of := func(sales ...string) func(witness.Event) bool {
		return func(e witness.Event) bool { return slices.Contains(sales, e.Sale) }
	}
	rows := map[string]struct {
		late  func(witness.Event) bool
		after int // milliseconds: what is late is told after all others up to then, and before the rest
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
			shop := newStage("v4")
			_, url := show(t, shop)
			shop.play(early...)
			w := watch(t, url, "en", "")
			w.until("lanes", `"name":"A"`)
			shop.play(late...)
			w.until("run", `"fresh":true`)
			shop.play(rest...)
			told := len(w.seen)
			shop.set(func(look *live.RunState) { look.Report.Sold, look.Report.Remaining = 5, 195 })
			ended := 0
			for ended < 5 {
				var lanes live.LanesFrame
				decode(t, w.until("lanes", ""), &lanes)
				ended = 0
				for _, lane := range lanes.Sales {
					if lane.End == "sold" {
						ended++
					}
				}
			}
			var tally live.TallyFrame
			decode(t, w.until("tally", `"sold":5`), &tally)
			for _, bad := range []witness.FindingKind{
				witness.Overlapped, witness.RemovedLock, witness.WroteLate, witness.LostUpdate, witness.ExpiredAtWork,
			} {
				if n := tally.FindingCounts[string(bad)]; n > 0 {
					t.Errorf("%d times %s is found", n, bad)
				}
			}
			for _, f := range w.seen[told:] {
				if f.name == "finding" && strings.Contains(f.data, `"bad":true`) {
					t.Errorf("told anew: %s", f.data)
				}
			}
		})
	}
}
