package live_test

import (
	"errors"
	"testing"

	"lockstep/internal/live"
	"lockstep/internal/witness"
)

// If Redis does not answer, a warning is sent at once, also to later watchers. When Redis returns empty, another says what was lost.
func TestWarningWhenRedisIsGone(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v4")
	_, url := serveHub(t, shop, pollOften)
	shop.set(func(look *live.RunState) { look.Report.Sold, look.Report.Remaining = 2, 198 })
	english, chinese := openStream(t, url, "en", ""), openStream(t, url, "zh", "")
	english.readUntil("run", "one")
	shop.set(func(*live.RunState) { shop.err = errors.New("refused") })
	english.readUntil("trouble", `["Redis does not answer: nobody can buy, and what you see is out of date."]`)
	openStream(t, url, "en", "").readUntil("trouble", "Redis does not answer")
	shop.set(func(look *live.RunState) {
		shop.err, look.Report.RunID, look.Report.Sold, look.Report.Remaining = nil, "two", 0, 200
	})
	english.readUntil("trouble", `["Redis was gone, and a new run has begun: the stock was 198, it is 200; 2 sales no longer count."]`)
	chinese.readUntil("trouble", `["Redis 曾经失联，随后开始了新的一轮：库存原来是 198，现在是 200，之前的 2 单不再计入。"]`)
	shop.set(func(look *live.RunState) { look.Report.RunID = "three" })
	english.readUntil("run", "three")
	openStream(t, url, "en", "").readUntil("tally", "three")
	for _, f := range english.seen[len(english.seen)-1:] {
		if f.name == "trouble" {
			t.Errorf("got warning %v of the next run, want none", f)
		}
	}
	shop.set(func(*live.RunState) { shop.err = errors.New("refused") })
	english.readUntil("trouble", "does not answer")
	shop.set(func(*live.RunState) { shop.err = nil })
	english.readUntil("trouble", `[]`)
}

// A Redis that loses its data without having been gone (FLUSHALL, or deleted keys) causes a warning; a run that somebody begins does not.
func TestWarningWhenRedisLostRun(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v4")
	_, url := serveHub(t, shop, pollOften)
	shop.set(func(look *live.RunState) { look.Report.Sold, look.Report.Remaining = 2, 198 })
	english, chinese := openStream(t, url, "en", ""), openStream(t, url, "zh", "")
	english.readUntil("tally", `"sold":2`)
	again := func(run string, forgot bool, gone error) {
		shop.set(func(look *live.RunState) {
			look.Report.RunID, look.Report.Sold, look.Report.Remaining, look.Report.Forgot, shop.err = run, 0, 200, forgot, gone
		})
	}
	again("two", true, nil)
	english.readUntil("trouble", `["Redis has forgotten the run (FLUSHALL, or its keys are deleted): the stock was 198, it is 200; `+
		`2 sales no longer count."]`)
	chinese.readUntil("trouble", `["Redis 丢失了这一轮的数据（FLUSHALL，或键被删除）：库存原来是 198，现在是 200，之前的 2 单不再计入。"]`)
	again("two", true, errors.New("refused"))
	english.readUntil("trouble", "does not answer")
	again("three", true, nil)
	english.readUntil("trouble", "Redis was gone, and has forgotten the run: the stock was 200")
	shop.set(func(*live.RunState) { shop.err = live.ErrRunDue })
	english.readUntil("trouble", `["Redis no longer has a run or its stock: a new run begins when the sales in flight have ended."`)
	again("due", true, nil)
	english.readUntil("trouble", "Redis has forgotten the run (FLUSHALL, or its keys are deleted): the stock was 200")
	again("four", false, nil)
	english.readUntil("run", "four")
	late := openStream(t, url, "en", "")
	late.readUntil("tally", "four")
	if last := late.seen[len(late.seen)-1]; last.name == "trouble" {
		t.Errorf("got warning %v of a run that somebody began, want none", last)
	}
}

// The warning about a paused or cut-off replica names it, though it has sold nothing.
func TestWarningNamesReplica(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v4")
	hub, url := serveHub(t, shop)
	w := openStream(t, url, "en", "")
	w.readUntil("run", "one")
	s := newScript("one")
	s.moment(0, "r2", witness.KindStops)
	hub.Note(s.events[0])
	w.readUntil("trouble", `["r2 is paused, with its sales and timers."]`)
	s.moment(100, "r2", witness.KindResumes)
	hub.Note(s.events[1])
	w.readUntil("trouble", `[]`)
	s.moment(200, "r1", witness.KindCutOff)
	hub.Note(s.events[2])
	w.readUntil("trouble", `["r1 is cut off from Redis: its commands and their replies wait on the way."]`)
	s.moment(300, "r1", witness.KindDies)
	hub.Note(s.events[3])
	w.readUntil("trouble", `[]`)
}
