package trace

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"lockstep/internal/language"
)

const (
	maxWidth     = 120  // columns of a line of the diagram
	minTextWidth = 40   // smallest number of columns for the text, however many lifelines there are
	textIndent   = "  " // indent of a text below its first line
)

// description returns the lines of text beside a step. It shortens a command that is too long, unless full is true.
func (t Trace) description(step, before Step, full bool) (lines []string) {
	fits := max(maxWidth-t.width()-3, minTextWidth)
	if step.Command != "" {
		if !full {
			step.Command = cut(t.shortenOwners(step.Command), fits-uniseg.StringWidth(t.outcome(step)))
		}
		lines = append(lines, Wrap(t.shortenOwners(step.Command+t.outcome(step)), fits, textIndent)...)
	}
	if step.Says != "" {
		lines = append(lines, Wrap(t.shortenOwners(step.Says), fits, textIndent)...)
	}
	switch {
	case full:
		lines = append(lines, Wrap(t.say("[%s; at %v]", "[%s；时刻 %v]", t.state(step), time.Duration(step.At)), fits, textIndent)...)
	case t.Nodes > 0: // The lifelines show the holders.
		if step.Stock != before.Stock {
			lines = append(lines, "["+t.say("stock: ", "库存：")+step.Stock+"]")
		}
	case t.state(step) != t.state(before):
		lines = append(lines, Wrap("["+t.state(step)+"]", fits, textIndent)...)
	}
	if len(lines) == 0 {
		return []string{step.Token}
	}
	return lines
}

// outcome returns the rest of a command's line: the reply, whether command and reply arrived, and the goroutine that sent the command.
func (t Trace) outcome(step Step) string {
	reply, comma := " → "+step.Reply, t.say(", ", "，")
	switch step.Kind {
	case KindLostRequest, KindLate, KindNeverComes:
		reply = comma + t.deliveryNote(step.Kind)
	case KindLostReply, KindReadsLate, KindResends, KindArrives:
		reply += comma + t.deliveryNote(step.Kind)
	default:
		if step.nodeHangs() {
			reply += comma + t.say("never sent", "没有发出")
		}
	}
	return reply + step.taskLabel()
}

// wasSentEarlier reports whether the command of a step was sent in an earlier step.
func (s Step) wasSentEarlier() bool {
	return s.SentEarlier || s.Kind == KindArrives || s.Kind == KindNeverComes
}

// taskLabel returns the name of the goroutine that sent a command; "" if the actor itself sent it. A command to a node needs no label,
// because the node's lifeline shows the goroutine.
func (s Step) taskLabel() string {
	if s.Task == "" || s.Node > 0 {
		return ""
	}
	return " (" + s.Actor + "." + s.Task + ")"
}

// deliveryNote returns what became of a command or a reply that did not arrive in time.
func (t Trace) deliveryNote(kind string) string {
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

// shortenOwners replaces owner values by the names of their actors.
func (t Trace) shortenOwners(text string) string {
	text = segmentKeys.ReplaceAllString(text, "distributedLock\x00$1") // keys of segments are not owner values
	return strings.ReplaceAll(strings.ReplaceAll(text, "distributedLock:", ""), "\x00", ":")
}

// segmentKeys matches the lock keys of stock segments.
var segmentKeys = regexp.MustCompile(`distributedLock:(\d{1,2}\b[^-])`) //nolint:gochecknoglobals // never changed

// cut shortens a text to at most so many columns, by leaving out its last words.
func cut(text string, fits int) string {
	if uniseg.StringWidth(text) <= fits {
		return text
	}
	const more = " …"
	return Wrap(text, fits-uniseg.StringWidth(more), "")[0] + more
}

// Wrap breaks a text into lines of at most width columns. Every line except the first begins with indent.
func Wrap(text string, width int, indent string) (lines []string) {
	line := ""
	for _, piece := range pieces(text) {
		if line != "" && uniseg.StringWidth(line+piece) > width {
			lines, line, piece = append(lines, line), indent, strings.TrimPrefix(piece, " ")
		}
		line += piece
	}
	return append(lines, line)
}

// pieces splits a text where it may be broken: into words, each with the space before it. A word with more columns than characters is
// Chinese, and is broken by the rules of Unicode.
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

// In returns the display name of a stance.
func (s Stance) In(in language.Language) string {
	both := language.Both
	return map[Stance]language.Text{
		Absent: both("absent", "还没开始"), Outside: both("outside", "在临界区外"), Inside: both("inside", "认为自己持有锁"),
		Paused: both("paused", "已暂停"), PausedInside: both("paused-inside", "已暂停，认为自己持有锁"),
		Ended: both("ended", "已结束"), Dead: both("dead", "已崩溃"),
	}[s].In(in)
}

// faultLabel returns the label of a step's fault. A failover or a rollback already begins with the first command that the replica or the
// snapshot does not receive.
func (t Trace) faultLabel(s Step) string {
	if s.Kind == KindUnsynced {
		return t.say("%s to come", "%s：此后的写入不再同步", s.Fault)
	}
	return s.Fault
}

// State returns a text about the lock and the stock after a step.
func (s Step) State(in language.Language) string { return Trace{Language: in}.state(s) }

// state is State in the language of the trace.
func (t Trace) state(s Step) string {
	lock := t.lockState(s)
	if s.Stock == "" {
		return lock
	}
	return lock + t.say("; stock: ", "；库存：") + s.Stock
}

// lockState returns who holds the lock, and for how long.
func (t Trace) lockState(s Step) string {
	switch {
	case len(s.Nodes) > 0:
		return t.nodeStates(s)
	case s.Lock == "":
		return t.say("no lock", "没有锁")
	case s.Expires == 0:
		return t.say("lock: ", "锁：") + t.holder(s.Lock)
	default:
		return t.say("lock: %s, for %v", "锁：%s，还有 %v", t.holder(s.Lock), time.Duration(s.Expires).Round(time.Millisecond))
	}
}

// holder returns the name of a holder in the language of the trace.
func (t Trace) holder(name string) string {
	if name == Nobody {
		return t.say(Nobody, "无人持有")
	}
	return name
}

// nodeStates returns who holds the lock on each node.
func (t Trace) nodeStates(s Step) string {
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

// say formats a text in the language of the trace.
func (t Trace) say(english, chinese string, values ...any) string {
	return t.Language.Say(english, chinese, values...)
}

// summary returns the text of a row for n steps from i on that change nothing.
func (t Trace) summary(i, n int) string {
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

// Legend returns an explanation of the lines of a diagram, with or without a lock.
func (t Trace) Legend() string {
	says := t.say("A thick line is a sale that believes that it holds the lock, until it begins to release it; "+
		"a dashed line is a paused sale.\n",
		"粗线表示这一单认为自己持有锁（到开始释放为止）；虚线表示这一单被暂停。\n")
	if t.Nodes == 0 && !slices.ContainsFunc(t.Steps, func(s Step) bool { return s.Lock != "" }) {
		says = t.say("A thick line is a sale under way; a dashed line is a paused sale.\n", "粗线表示这一单正在进行；虚线表示这一单被暂停。\n")
	}
	if t.Nodes > 0 {
		says += t.say("The letter on a node's line is the sale whose lock is there; a dashed line is a node that hangs.\n",
			"节点线上的字母是在那里持有锁的一单；虚线表示节点卡住。\n")
	}
	return says
}
