package live_test

import (
	"errors"
	"testing"

	"lockstep/internal/live"
	"lockstep/internal/witness"
)

// Redis that is gone is told at once, also to who comes later; and what it has forgotten, when it comes back empty.
func TestRedisIsGone(t *testing.T) {
	t.Parallel()
	shop := newStage("v4")
	_, url := show(t, shop, often)
	shop.set(func(look *live.RunState) { look.Report.Sold, look.Report.Remaining = 2, 198 })
	english, chinese := watch(t, url, "en", ""), watch(t, url, "zh", "")
	english.until("run", "one")
	shop.set(func(*live.RunState) { shop.gone = errors.New("refused") })
	english.until("trouble", `["Redis does not answer: nobody can buy, and what you see is out of date."]`)
	watch(t, url, "en", "").until("trouble", "Redis does not answer")
	shop.set(func(look *live.RunState) {
		shop.gone, look.Report.RunID, look.Report.Sold, look.Report.Remaining = nil, "two", 0, 200
	})
	english.until("trouble", `["Redis was gone, and a new run has begun: the stock was 198, it is 200; 2 sales no longer count."]`)
	chinese.until("trouble", `["Redis 曾经失联，随后开始了新的一轮：库存原来是 198，现在是 200，之前的 2 单不再计入。"]`)
	shop.set(func(look *live.RunState) { look.Report.RunID = "three" })
	english.until("run", "three")
	watch(t, url, "en", "").until("tally", "three")
	for _, f := range english.seen[len(english.seen)-1:] {
		if f.name == "trouble" {
			t.Errorf("of the next run, there is %v", f)
		}
	}
	shop.set(func(*live.RunState) { shop.gone = errors.New("refused") })
	english.until("trouble", "does not answer")
	shop.set(func(*live.RunState) { shop.gone = nil })
	english.until("trouble", `[]`)
}

// A Redis that forgets without having been gone (FLUSHALL, or its keys are deleted) is told, too; a run that somebody begins is not.
func TestRedisForgets(t *testing.T) {
	t.Parallel()
	shop := newStage("v4")
	_, url := show(t, shop, often)
	shop.set(func(look *live.RunState) { look.Report.Sold, look.Report.Remaining = 2, 198 })
	english, chinese := watch(t, url, "en", ""), watch(t, url, "zh", "")
	english.until("tally", `"sold":2`)
	again := func(run string, forgot bool, gone error) {
		shop.set(func(look *live.RunState) {
			look.Report.RunID, look.Report.Sold, look.Report.Remaining, look.Report.Forgot, shop.gone = run, 0, 200, forgot, gone
		})
	}
	again("two", true, nil)
	english.until("trouble", `["Redis has forgotten the run (FLUSHALL, or its keys are deleted): the stock was 198, it is 200; `+
		`2 sales no longer count."]`)
	chinese.until("trouble", `["Redis 丢失了这一轮的数据（FLUSHALL，或键被删除）：库存原来是 198，现在是 200，之前的 2 单不再计入。"]`)
	again("two", true, errors.New("refused"))
	english.until("trouble", "does not answer")
	again("three", true, nil)
	english.until("trouble", "Redis was gone, and has forgotten the run: the stock was 200")
	shop.set(func(*live.RunState) { shop.gone = live.ErrRunDue })
	english.until("trouble", `["Redis no longer has a run or its stock: a new run begins when the sales in flight have ended."`)
	again("due", true, nil)
	english.until("trouble", "Redis has forgotten the run (FLUSHALL, or its keys are deleted): the stock was 200")
	again("four", false, nil)
	english.until("run", "four")
	late := watch(t, url, "en", "")
	late.until("tally", "four")
	if last := late.seen[len(late.seen)-1]; last.name == "trouble" {
		t.Errorf("of a run that somebody began, there is %v", last)
	}
}

// A replica that is paused, or cut off, is told by name, though it has sold nothing.
func TestAReplicaIsPausedOrCutOff(t *testing.T) {
	t.Parallel()
	shop := newStage("v4")
	hub, url := show(t, shop)
	w := watch(t, url, "en", "")
	w.until("run", "one")
	s := newScript("one")
	s.moment(0, "r2", witness.KindStops)
	hub.Note(s.all[0])
	w.until("trouble", `["r2 is paused: its sales stand still, timers and all."]`)
	s.moment(100, "r2", witness.KindResumes)
	hub.Note(s.all[1])
	w.until("trouble", `[]`)
	s.moment(200, "r1", witness.KindCutOff)
	hub.Note(s.all[2])
	w.until("trouble", `["r1 is cut off from Redis: its commands and their replies wait on the way."]`)
	s.moment(300, "r1", witness.KindDies)
	hub.Note(s.all[3])
	w.until("trouble", `[]`)
}
