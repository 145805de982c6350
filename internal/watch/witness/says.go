package witness

import (
	"cmp"
	"strconv"
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service/reason"
)

// did is what a command may do.
type did struct {
	verb    Verb
	outcome Outcome
}

// doings say what commands do. A word in braces is a field of the event.
func doings() map[did]language.Text {
	both := language.Both
	refused, over := both("{by} is refused", "{by} 被拒绝"), both("{by} is refused: its run is over", "{by} 被拒绝：它那一轮已经结束")
	return map[did]language.Text{
		{Takes, Done}:       both("{by} takes the lock", "{by} 拿到锁"),
		{Takes, Again}:      both("{by} counts its lock", "{by} 更新自己锁的重入次数"),
		{Takes, Refused}:    both("{by} finds the lock held", "{by} 发现锁被占用"),
		{Looks, Done}:       both("{by} finds the lock to be {holder}'s", "{by} 发现锁是 {holder} 的"),
		{Looks, ByNobody}:   both("{by} finds no lock", "{by} 没有发现锁"),
		{Renews, Done}:      both("{by} renews its lock", "{by} 给自己的锁续期"),
		{Renews, ByOther}:   both("{by} finds that the lock is no longer its own", "{by} 发现锁已经不是自己的"),
		{Renews, ByNobody}:  both("{by} finds no lock", "{by} 没有发现锁"),
		{Removes, Done}:     both("{by} gives the lock back", "{by} 释放锁"),
		{Removes, Passed}:   both("{by} gives the lock back to the queue", "{by} 释放锁，轮到队首"),
		{Removes, Again}:    both("{by} keeps the lock", "{by} 保留锁"),
		{Removes, ByOther}:  both("{by} leaves the lock alone: it is another's by now", "{by} 不动这把锁：它已经是别人的"),
		{Removes, ByNobody}: both("{by} finds no lock any more", "{by} 发现锁已经不在了"),
		{Removes, NotOwner}: both("{by} finds that the lock is no longer its own", "{by} 发现锁已经不是自己的"),
		{Reads, Done}:       both("{by} reads stock {stock}", "{by} 读到库存 {stock}"),
		{Writes, Done}:      both("{by} writes stock {stock}", "{by} 写入库存 {stock}"),
		{Reads, Refused}:    refused, {Writes, Refused}: refused, {Reads, Over}: over, {Writes, Over}: over,
	}
}

// byHand say what somebody does who is no sale.
func byHand() map[Outcome]language.Text {
	return map[Outcome]language.Text{
		Done:     language.Both("somebody removes the lock by hand", "有人手动删除了锁"),
		ByNobody: language.Both("somebody would remove the lock by hand, but there is none", "有人要手动删除锁，但没有锁"),
	}
}

// commandSentence says what a command did.
func commandSentence(in language.Language, event Event) string {
	c := event.Command
	what := doings()[did{c.Verb, c.Outcome}]
	switch {
	case c.Outcome == Unknown && event.Node > 0:
		return event.filled(language.Both("{by} has no reply from node {node}", "{by} 没有收到节点 {node} 的响应").In(in), in)
	case c.Outcome == Unknown:
		what = language.Both("{by} gets no reply", "{by} 没有收到响应")
	case actor(event) == "":
		what = byHand()[c.Outcome]
	case c.Verb == Looks && c.Reply == "nil":
		what = doings()[did{Looks, ByNobody}]
	}
	text := what.In(in)
	if event.Node > 0 && text != "" {
		text += language.Both(" on node {node}", "（节点 {node}）").In(in)
	}
	return event.filled(text, in)
}

// pollsSentence says how often a sale asked before a command, unnoted.
func pollsSentence(in language.Language, event Event) string {
	english, chinese := "{by} asks {times} times more, in vain", "{by} 又问了 {times} 次，都没有成功"
	if event.Node > 0 {
		english, chinese = "{by} asks node {node} {times} times more, in vain", "{by} 又问了节点 {node} {times} 次，都没有成功"
	}
	if event.Command.Polls == 1 {
		english = strings.Replace(english, "{times} times", "once", 1)
		chinese = strings.Replace(chinese, "，都没有成功", "，没有成功", 1)
	}
	return event.filled(language.Both(english, chinese).In(in), in)
}

// endSentence says how a sale ended.
func endSentence(in language.Language, event Event) string {
	if event.Error == "" {
		return event.filled(language.Both("{by} has sold", "{by} 卖出一件").In(in), in)
	}
	return event.filled(language.Both("{by} fails: ", "{by} 失败：").In(in), in) + reason.WithCode(event.Code).In(in, event.Error)
}

// filled puts the fields of an event into a sentence.
func (e Event) filled(text string, in language.Language) string {
	by, c := cmp.Or(e.Sale, e.Replica), Command{}
	switch {
	case e.Command != nil:
		by, c = actor(e), *e.Command
	case by == "":
		by = redisIn(in, e.Node)
	}
	return strings.NewReplacer(
		"{by}", by, " {redis}", after(redisIn(in, e.Node)), "{node}", strconv.Itoa(e.Node),
		"{tick}", strconv.Itoa(e.Tick), "{times}", strconv.Itoa(c.Polls),
		"{stock}", strconv.FormatInt(c.Stock, 10), "{holder}", strings.TrimPrefix(c.Reply, lock.Key+":"),
	).Replace(text)
}
