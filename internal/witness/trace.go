package witness

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/redis/meaning"
	"lockstep/internal/trace"
)

// Trace writes down what happened to some sales, for the drawings that the explorer has, too; without names, to all of them.
func (a Account) Trace(in language.Language, sales ...string) trace.Trace {
	if len(sales) == 0 {
		for _, s := range a.Sales {
			if !slices.Contains(sales, s.Name) {
				sales = append(sales, s.Name)
			}
		}
	}
	t := trace.Trace{Actors: sales, Nodes: a.nodeCount, Language: in}
	if len(a.Events) == 0 {
		return t
	}
	d := traceBuilder{in: in, account: &a, sales: sales}
	moments := d.timedSteps()
	for i, m := range moments {
		until := endOfEvents(a.Events).Add(1)
		if i+1 < len(moments) {
			until = moments[i+1].at
		}
		t.Steps = append(t.Steps, d.withState(m.step, m.at, until))
	}
	return t
}

type traceBuilder struct {
	in      language.Language
	account *Account
	sales   []string
	stock   string
}

// moment is a step and its time. The expiry of a lock is one, and no event; a command may be several.
type timedStep struct {
	at   time.Time
	step trace.Step
}

func (d *traceBuilder) timedSteps() (all []timedStep) {
	for _, event := range d.account.Events {
		m, shown := timedStep{at: event.Replied}, event.Sale == "" || slices.Contains(d.sales, event.Sale)
		switch event.Kind {
		case KindCommand:
			if shown {
				all = append(all, d.commandSteps(event)...)
			}
			continue
		case KindEnds:
			m.step = trace.Step{Actor: event.Sale, Kind: trace.KindEnds, Says: endSentence(d.in, event)}
		default:
			m.step, shown = d.eventStep(event)
		}
		if shown {
			all = append(all, m)
		}
	}
	for _, h := range d.account.Holdings {
		if h.End == Expired {
			says := Event{Sale: h.Holder}.fill(language.Both("{by}'s lock expires", "{by} 的锁过期").In(d.in), d.in)
			all = append(all, timedStep{at: h.To, step: trace.Step{Kind: trace.KindTime, Says: says}})
		}
	}
	slices.SortStableFunc(all, func(a, b timedStep) int { return a.at.Compare(b.at) })
	return all
}

// happens gives the step of an event that is no command, if it has one: of a sale or of a replica that is not drawn, it has none.
func (d *traceBuilder) eventStep(event Event) (step trace.Step, shown bool) {
	h, shown := event.text()
	step = trace.Step{Kind: h.stepKind, Fault: event.fill(h.ruler.In(d.in), d.in), Node: event.Node, Says: event.Sentence(d.in)}
	switch {
	case event.Sale != "":
		step.Actor = event.Sale
		shown = shown && (event.Kind != KindLoses || slices.Contains(d.sales, event.Sale))
	case event.Replica != "":
		step.Actor = d.firstSaleOf(event.Replica)
		shown = shown && step.Actor != ""
	}
	switch {
	case event.Kind == KindRunBegins, event.Kind == KindTickMissed:
		step.Says = cmp.Or(d.findingSentences(func(f Finding) bool {
			return (f.Kind == RanTickTwice || f.Kind == MissedTick) && f.Tick == event.Tick && f.Subject == event.Sale
		}), step.Says)
	case event.isDataLoss():
		forgot := d.findingSentences(func(f Finding) bool { return f.Kind == RedisLostLock && f.At.Equal(event.Replied) })
		step.Says = d.join(step.Says, forgot)
	}
	return step, shown
}

func (d *traceBuilder) firstSaleOf(replica string) string {
	for _, sale := range d.sales {
		if ReplicaOf(sale) == replica {
			return sale
		}
	}
	return ""
}

// command is a command: the attempts before it that were not noted, and its reply. If it was on its way while something happened to its
// sender, it is drawn when it was sent, too.
func (d *traceBuilder) commandSteps(event Event) (all []timedStep) {
	c, sender := event.Command, d.sender(event)
	if c.Polls > 0 {
		step := trace.Step{Actor: sender, Kind: trace.KindWaits, Says: pollsSentence(d.in, event)}
		all = append(all, timedStep{d.pollTime(event), step})
	}
	step := trace.Step{Token: c.Name, Actor: sender, Kind: trace.KindCommand, Node: event.Node, Command: c.Text}
	step.Reply = meaning.Answer(c.Reply)
	if d.isDelayed(event) {
		sends := step
		sends.Kind, step.Sent = trace.KindLate, true
		all = append(all, timedStep{event.Sent, sends})
	}
	if c.Outcome == Unknown {
		step.Kind, step.Reply = trace.KindLostReply, "?"
	}
	if (c.Verb == Reads || c.Verb == Writes) && c.Outcome == Done {
		step.Stock = withSegment(strconv.FormatInt(c.Stock, 10), event.Segment)
	}
	step.Says = cmp.Or(d.findingSentences(func(f Finding) bool { // that the command is to blame for
		return f.At.Equal(event.Replied) && f.Subject == actorOf(event) && (f.Kind != WaitsForItself || c.Verb == Takes)
	}), commandSentence(d.in, event))
	return append(all, timedStep{event.Replied, step})
}

// polled is when the attempts before a command are drawn: when the last of them was sent. An expiry is known as the earliest that it can
// have been, so an attempt right after it still found the lock.
func (d *traceBuilder) pollTime(event Event) time.Time {
	at, holdings := event.Command.LastPoll, d.account.Holdings
	if at.IsZero() {
		at = event.Sent
	}
	if event.Node > 0 {
		holdings = d.account.NodeHoldings
	}
	for _, h := range holdings {
		if h.Node == event.Node && h.End == Expired && !h.To.After(at) && at.Sub(h.To) < lossNoticeTime {
			return h.To.Add(-1)
		}
	}
	return at
}

// isDelayed reports whether, while a command was on its way, its sale was told that it has lost the lock, its replica was stopped, or
// somebody held it up.
func (d *traceBuilder) isDelayed(event Event) bool {
	return slices.ContainsFunc(d.account.Events, func(e Event) bool {
		switch {
		case !e.Sent.After(event.Sent) || !e.Sent.Before(event.Replied) || e.Replica != event.Replica:
			return false
		case e.Kind == KindLoses:
			return e.Sale == event.Sale
		default:
			return e.Kind == KindStops || e.Kind == KindCommandHeld && e.Node == event.Node
		}
	})
}

// sender gives the sale on whose lifeline a command is drawn: its own, or, for one of a replica, the one that is at work there; "" for
// one by hand.
func (d *traceBuilder) sender(event Event) string {
	if event.Sale != "" || event.Command.Holder == "" {
		return event.Sale
	}
	for _, i := range d.account.CriticalSections {
		if ReplicaOf(i.Sale) == event.Replica && i.Contains(event.Replied) && slices.Contains(d.sales, i.Sale) {
			return i.Sale
		}
	}
	return d.firstSaleOf(event.Replica)
}

func (d *traceBuilder) findingSentences(those func(Finding) bool) (says string) {
	for _, f := range d.account.Findings {
		if those(f) {
			says = d.join(says, f.Sentence(d.in))
		}
	}
	return says
}

func (d *traceBuilder) join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return strings.Join([]string{a, b}, language.Both("; ", "；").In(d.in))
}

// inSegment adds to a text of which segment of the stock it is, if the stock is in segments.
func withSegment(text string, segment int) string {
	if segment == 0 {
		return text
	}
	return fmt.Sprintf("%s (%d)", text, segment)
}

// stood adds to a step what is so after it, until the next one.
func (d *traceBuilder) withState(step trace.Step, at, until time.Time) trace.Step {
	a := d.account
	step.At = trace.Millis(at.Sub(a.Events[0].Sent))
	var ofSegments []string
	for _, h := range a.Holdings {
		switch {
		case h.Contains(at) && h.Segment > 0:
			ofSegments = append(ofSegments, withSegment(h.Holder, h.Segment))
		case h.Contains(at):
			step.Lock = h.Holder
		}
	}
	step.Lock = cmp.Or(step.Lock, strings.Join(ofSegments, ", "))
	d.stock = cmp.Or(step.Stock, d.stock)
	step.Stock = d.stock
	for range a.nodeCount {
		step.Nodes = append(step.Nodes, trace.Node{Health: trace.Well})
	}
	for _, event := range a.Events {
		if event.Kind == KindCrashes && event.Node > 0 && !event.Replied.After(at) {
			step.Nodes[event.Node-1].Health = trace.Crashed
		}
	}
	for _, h := range a.NodeHoldings {
		if h.Contains(at) {
			step.Nodes[h.Node-1].Lock = h.Holder
		}
	}
	for _, sale := range d.sales {
		step.Standing = append(step.Standing, d.stance(sale, at, until))
	}
	return step
}

// stance is where a sale stands at a moment. A sale that obtains the lock before the next step is inside: its command has said so.
func (d *traceBuilder) stance(sale string, at, until time.Time) trace.Stance {
	var life *Sale // the latest of that name: its replica may have been started again
	for _, s := range d.account.Sales {
		if s.Name == sale && !s.beganAt().IsZero() && !s.beganAt().After(at) {
			life = s
		}
	}
	paused := slices.ContainsFunc(d.account.Stops, func(s Stop) bool {
		return s.Replica == ReplicaOf(sale) && s.Contains(at)
	})
	inside := slices.ContainsFunc(d.account.CriticalSections, func(i *CriticalSection) bool {
		return i.Sale == sale && (i.Contains(at) || i.From.After(at) && i.From.Before(until))
	})
	switch {
	case life == nil:
		return trace.Absent
	case !life.EndedAt.IsZero() && !life.EndedAt.After(at):
		if life.Died {
			return trace.Dead
		}
		return trace.Ended
	case paused && inside:
		return trace.PausedInside
	case paused:
		return trace.Paused
	case inside:
		return trace.Inside
	default:
		return trace.Outside
	}
}
