package trace

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"lockstep/internal/language"
)

const (
	widest   = 120 // a line of the diagram
	room     = 40  // for words, however many lifelines there are
	indented = "  "
)

// words returns the lines beside a step. A command that is too long is cut, but in full.
func (t Trace) words(step, before Step, full bool) (lines []string) {
	fits := max(widest-t.width()-3, room)
	if step.Command != "" {
		if !full {
			step.Command = cut(t.short(step.Command), fits-uniseg.StringWidth(t.outcome(step)))
		}
		lines = append(lines, Wrap(t.short(step.Command+t.outcome(step)), fits, indented)...)
	}
	if step.Says != "" {
		lines = append(lines, Wrap(t.short(step.Says), fits, indented)...)
	}
	switch {
	case full:
		lines = append(lines, Wrap(t.say("[%s; at %v]", "[%s；时刻 %v]", t.state(step), time.Duration(step.At)), fits, indented)...)
	case t.Nodes > 0: // whose the lock is stands on the lifelines
		if step.Stock != before.Stock {
			lines = append(lines, "["+t.say("stock: ", "库存：")+step.Stock+"]")
		}
	case t.state(step) != t.state(before):
		lines = append(lines, Wrap("["+t.state(step)+"]", fits, indented)...)
	}
	if len(lines) == 0 {
		return []string{step.Token}
	}
	return lines
}

// outcome returns a command's reply, whether both arrived, and whose command it is.
func (t Trace) outcome(step Step) string {
	reply, comma := " → "+step.Reply, t.say(", ", "，")
	switch step.Kind {
	case KindLostRequest, KindLate, KindNeverComes:
		reply = comma + t.fate(step.Kind)
	case KindLostReply, KindReadsLate, KindResends, KindArrives:
		reply += comma + t.fate(step.Kind)
	default:
		if step.silent() {
			reply += comma + t.say("never sent", "没有发出")
		}
	}
	return reply + step.whose()
}

// afterwards reports whether its command was on its way before: by now its sender does something else, or nothing.
func (s Step) afterwards() bool { return s.Sent || s.Kind == KindArrives || s.Kind == KindNeverComes }

// whose says whose command it is, if its actor has started a goroutine for that. Those for a node have its lifeline.
func (s Step) whose() string {
	if s.Task == "" || s.Node > 0 {
		return ""
	}
	return " (" + s.Actor + "." + s.Task + ")"
}

// fate says where a command, or its reply, was lost.
func (t Trace) fate(kind string) string {
	switch kind {
	case KindLostReply, KindResends, KindLostRequest, KindNeverComes:
		return t.say("lost on the way", "途中丢失")
	case KindReadsLate:
		return t.say("unread", "没有读")
	case KindLate:
		return t.say("not there yet", "还没到")
	case KindArrives:
		return t.say("which nobody waits for", "已没有人等它")
	default:
		return ""
	}
}

// short writes owners as their actors' names.
func (t Trace) short(text string) string {
	text = segments.ReplaceAllString(text, "distributedLock\x00$1") // which are no owners
	return strings.ReplaceAll(strings.ReplaceAll(text, "distributedLock:", ""), "\x00", ":")
}

// segments are the keys of the locks of segments.
var segments = regexp.MustCompile(`distributedLock:(\d{1,2}\b[^-])`) //nolint:gochecknoglobals // never changed

// cut leaves words out at the end.
func cut(text string, fits int) string {
	if uniseg.StringWidth(text) <= fits {
		return text
	}
	const more = " …"
	return Wrap(text, fits-uniseg.StringWidth(more), "")[0] + more
}

// Wrap breaks a text into lines that fit so many columns. Those that go on with it begin with indent.
func Wrap(text string, fits int, indent string) (lines []string) {
	line := ""
	for _, piece := range pieces(text) {
		if line != "" && uniseg.StringWidth(line+piece) > fits {
			lines, line, piece = append(lines, line), indent, strings.TrimPrefix(piece, " ")
		}
		line += piece
	}
	return append(lines, line)
}

// pieces returns the parts of a text that stay in one line: its words, with the spaces before them. A word that is wider than it is long is
// Chinese, and has pieces of its own.
func pieces(text string) (all []string) {
	space := ""
	for word := range strings.FieldsSeq(text) {
		rest, piece, state := word, word, -1
		for wide := uniseg.StringWidth(word) > utf8.RuneCountInString(word); wide && rest != ""; {
			piece, rest, _, state = uniseg.FirstLineSegmentInString(rest, state)
			if rest != "" {
				all, space = append(all, space+piece), ""
			}
		}
		all, space = append(all, space+piece), " "
	}
	return all
}

// In says where an actor stands.
func (s Stance) In(in language.Language) string {
	both := language.Both
	return map[Stance]language.Text{
		Absent: both("absent", "还没开始"), Outside: both("outside", "在临界区外"), Inside: both("inside", "认为自己持有锁"),
		Paused: both("paused", "已暂停"), PausedInside: both("paused-inside", "已暂停，认为自己持有锁"),
		Ended: both("ended", "已结束"), Dead: both("dead", "已崩溃"),
	}[s].In(in)
}

// fault names a step's fault. A failover, or a rollback, begins with the first command that the replica, or the snapshot, does not get.
func (t Trace) fault(s Step) string {
	if s.Kind == KindUnsynced {
		return t.say("%s to come", "%s 将至", s.Fault)
	}
	return s.Fault
}

// State says what is so after a step.
func (s Step) State(in language.Language) string { return Trace{Language: in}.state(s) }

// state says it in the language of the trace.
func (t Trace) state(s Step) string {
	held := t.held(s)
	if s.Stock == "" {
		return held
	}
	return held + t.say("; stock: ", "；库存：") + s.Stock
}

// held says whose the lock is.
func (t Trace) held(s Step) string {
	switch {
	case len(s.Nodes) > 0:
		return t.heldOnNodes(s)
	case s.Lock == "":
		return t.say("no lock", "没有锁")
	case s.Expires == 0:
		return t.say("lock: ", "锁：") + t.holder(s.Lock)
	default:
		return t.say("lock: %s, for %v", "锁：%s，还有 %v", t.holder(s.Lock), time.Duration(s.Expires).Round(time.Millisecond))
	}
}

// holder returns the name of one who has the lock.
func (t Trace) holder(name string) string {
	if name == Nobody {
		return t.say(Nobody, "无人持有")
	}
	return name
}

func (t Trace) heldOnNodes(s Step) string {
	var all []string
	for i, node := range s.Nodes {
		what := t.holder(node.Lock)
		switch {
		case node.Health == Crashed:
			what = t.say("down", "宕机")
		case node.Lock == "":
			what = t.say("no lock", "没有锁")
		}
		if node.Health == Hung {
			what += t.say(" (hangs)", "（卡住）")
		}
		all = append(all, t.say("node %d: %s", "节点 %d：%s", i+1, what))
	}
	return strings.Join(all, t.say(", ", "，"))
}

// say says it in the language of the trace.
func (t Trace) say(english, chinese string, values ...any) string {
	return t.Language.Say(english, chinese, values...)
}

// folded says what so many steps from i on are.
func (t Trace) folded(i, n int) string {
	polls := 0
	for _, step := range t.Steps[i : i+n] {
		if step.Command != "" {
			polls++
		}
	}
	var says []string
	if later := time.Duration(t.Steps[i+n-1].At - t.Steps[i-1].At); later > 0 {
		says = append(says, t.say("%v later", "%v 后", later.Round(time.Millisecond)))
	}
	switch polls {
	case 0:
	case 1:
		says = append(says, t.say("1 poll", "轮询 1 次"))
	default:
		says = append(says, t.say("%d polls", "轮询 %d 次", polls))
	}
	says = append(says, t.say("nothing new", "没有变化"))
	return t.say("steps %d–%d: %s", "第 %d–%d 步：%s", i+1, i+n, strings.Join(says, t.say(", ", "，")))
}

// Legend explains the lines of a diagram.
func (t Trace) Legend() string {
	says := t.say("A thick line is a sale that believes that it holds the lock; a dashed line is a paused sale.\n",
		"粗线表示这一单认为自己持有锁；虚线表示这一单被暂停。\n")
	if t.Nodes > 0 {
		says += t.say("The letter on a node's line is the sale whose lock is there; a dashed line is a node that hangs.\n",
			"节点线上的字母是在那里持有锁的一单；虚线表示节点卡住。\n")
	}
	return says
}
