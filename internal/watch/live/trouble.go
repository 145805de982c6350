package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service/history"
	"lockstep/internal/watch/witness"
)

// trouble is what a watcher has to know before he believes what he sees: whatever run is shown, if any.
type trouble struct {
	gone   error    // why the last look failed
	paused []string // replicas that are stopped
	cut    []string // replicas that are cut off from Redis
	forgot language.Text
	told   string
}

// observe takes what became of a look. A run that begins when Redis comes back without having forgotten the one before was begun by
// somebody meanwhile; a Redis may also forget without having been gone.
func (t *trouble) observe(err error, before *scene, now history.Report) {
	if err == nil && before != nil && before.run() != now.RunID {
		t.forgot = language.Text{}
		happened := language.Both("Redis was gone, and a new run has begun", "Redis 曾经失联，随后开始了新的一轮")
		if now.Forgot {
			happened = language.Both("Redis has forgotten the run (FLUSHALL, or its keys are deleted)", "Redis 丢失了这一轮的数据（FLUSHALL，或键被删除）")
		}
		gone := t.gone != nil && !errors.Is(t.gone, ErrRunDue)
		if gone && now.Forgot {
			happened = language.Both("Redis was gone, and has forgotten the run", "Redis 曾经失联，并丢失了这一轮的数据")
		}
		if gone || now.Forgot {
			was, is, sold := before.last.Report.Remaining, now.Remaining, before.last.Report.Sold
			t.forgot = language.Both(
				fmt.Sprintf("%s: the stock was %d, it is %d; %d sales no longer count.", happened.In(language.English), was, is, sold),
				fmt.Sprintf("%s：库存原来是 %d，现在是 %d，之前的 %d 单不再计入。", happened.In(language.Chinese), was, is, sold))
		}
	}
	t.gone = err
}

// record takes what happens to replicas.
func (t *trouble) record(event witness.Event) {
	with := func(names []string) []string {
		names = append(without(names, event.Replica), event.Replica)
		slices.Sort(names)
		return names
	}
	switch event.Kind {
	case witness.KindStops:
		t.paused = with(t.paused)
	case witness.KindGoes:
		t.paused = without(t.paused, event.Replica)
	case witness.KindCut:
		t.cut = with(t.cut)
	case witness.KindMend:
		t.cut = without(t.cut, event.Replica)
	case witness.KindDies:
		t.paused, t.cut = without(t.paused, event.Replica), without(t.cut, event.Replica)
	default:
	}
}

func without(names []string, one string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == one })
}

// tell tells of it; nil if that is nothing new.
func (t *trouble) tell(called func(string) string) texts {
	frame := func(in language.Language) any {
		all := TroubleFrame{}
		switch {
		case t.gone == nil:
		case lock.CodeOf(t.gone) == "no_replica":
			all = append(all, language.Both(
				"No replica answers: what you see is old.", "没有副本应答：你看到的是旧画面。").In(in))
		case errors.Is(t.gone, ErrRunDue):
			all = append(all, language.Both(
				"Redis holds no run or no stock any more: a new run begins when the sales in flight have ended.",
				"Redis 里已经没有这一轮或它的库存：处理中的请求结束后，新的一轮开始。").In(in))
		default:
			all = append(all, language.Both(
				"Redis does not answer: nobody can buy, and what you see is old.", "Redis 没有应答：谁都买不了，你看到的是旧画面。").In(in))
		}
		if t.forgot != (language.Text{}) {
			all = append(all, t.forgot.In(in))
		}
		for _, name := range t.paused {
			all = append(all, fmt.Sprintf(language.Both(
				"%s is paused: its sales stand still, timers and all.", "%s 已暂停：它的销售都停着，定时器也停了。").In(in), called(name)))
		}
		for _, name := range t.cut {
			all = append(all, fmt.Sprintf(language.Both(
				"%s is cut off from Redis: its commands and their replies wait on the way.",
				"%s 与 Redis 断开：它的命令和响应都停在途中。").In(in), called(name)))
		}
		return all
	}
	text, err := json.Marshal(frame(language.English))
	if err != nil || string(text) == t.told || t.told == "" && string(text) == "[]" {
		return nil
	}
	t.told = string(text)
	return inAll(frame)
}
