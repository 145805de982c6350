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

// Trace returns a trace of some sales, or of all sales if no names are given. It is drawn like the traces of the explorer.
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
	d := traceBuilder{in: in, account: &a, sales: sales, drawn: map[string]bool{}}
	steps := d.timedSteps()
	for i, m := range steps {
		until := endOfEvents(a.Events).Add(1)
		if i+1 < len(steps) {
			until = steps[i+1].at
		}
		t.Steps = append(t.Steps, d.withState(m.step, m.at, until))
	}
	return t
}

// traceBuilder builds a trace from an account.
type traceBuilder struct {
	in      language.Language // language of the sentences
	account *Account          // account that is drawn
	sales   []string          // names of the sales to draw
	drawn   map[string]bool   // sales of which a step has been drawn, by name
	stock   string            // text of the latest known stock
}

// timedStep is a step of a trace and its time. The expiry of a lock is a step without an event; a command may be several steps.
type timedStep struct {
	at   time.Time  // time of the step
	step trace.Step // step without the state after it
}

// timedSteps returns all steps sorted by time, without the state after them.
func (d *traceBuilder) timedSteps() (all []timedStep) {
	for _, event := range d.account.Events {
		m := timedStep{at: event.Replied}
		isShown := event.Sale == "" || slices.Contains(d.sales, event.Sale)
		switch event.Kind {
		case KindCommand:
			if isShown {
				all = append(all, d.commandSteps(event)...)
			}
			continue
		case KindEnds:
			m.step = trace.Step{Actor: event.Sale, Kind: trace.KindEnds, Says: endSentence(d.in, event)}
		default:
			m.step, isShown = d.eventStep(event)
		}
		if isShown {
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

// eventStep returns the step of an event that is not a command. ok is false if the event has no step, or belongs to a sale or a replica
// that is not drawn.
func (d *traceBuilder) eventStep(event Event) (step trace.Step, ok bool) {
	h, ok := event.text()
	step = trace.Step{Kind: h.stepKind, Fault: event.fill(h.ruler.In(d.in), d.in), Node: event.Node, Says: event.Sentence(d.in)}
	switch {
	case event.Sale != "":
		step.Actor = event.Sale
		ok = ok && (event.Kind != KindLoses || slices.Contains(d.sales, event.Sale))
	case event.Replica != "":
		step.Actor = d.firstSaleOf(event.Replica)
		ok = ok && step.Actor != ""
	}
	switch {
	case event.Kind == KindRunBegins, event.Kind == KindTickMissed:
		step.Says = cmp.Or(d.findingSentences(func(f Finding) bool {
			return (f.Kind == RanTickTwice || f.Kind == MissedTick) && f.Tick == event.Tick && f.Subject == event.Sale
		}), step.Says)
	case event.isDataLoss():
		lossSentence := d.findingSentences(func(f Finding) bool { return f.Kind == RedisLostLock && f.At.Equal(event.Replied) })
		step.Says = d.join(step.Says, lossSentence)
	}
	return step, ok
}

// firstSaleOf returns the first drawn sale of a replica; empty if none is drawn.
func (d *traceBuilder) firstSaleOf(replica string) string {
	for _, sale := range d.sales {
		if ReplicaOf(sale) == replica {
			return sale
		}
	}
	return ""
}

// commandSteps returns the steps of a command: the unrecorded attempts before it, and the command with its reply. If something happened to
// the sender while the command was on its way, there is also a step when it was sent.
func (d *traceBuilder) commandSteps(event Event) (all []timedStep) {
	c, sender := event.Command, d.sender(event)
	if c.Polls > 0 {
		step := trace.Step{Actor: sender, Kind: trace.KindWaits, Says: pollsSentence(d.in, event)}
		all = append(all, timedStep{d.pollTime(event), step})
	}
	step := trace.Step{Token: c.Name, Actor: sender, Kind: trace.KindCommand, Node: event.Node, Command: c.Text}
	step.Reply = meaning.ShortReply(c.Reply)
	if d.isDelayed(event) {
		sends := step
		sends.Kind, sends.Says, step.SentEarlier = trace.KindLate, sendingSentence(d.in, event), true
		all = append(all, timedStep{event.Sent, sends})
	}
	if c.Outcome == Unknown {
		step.Kind, step.Reply = trace.KindLostReply, "?"
	}
	if (c.Verb == Reads || c.Verb == Writes) && c.Outcome == Done {
		step.Stock = withSegment(strconv.FormatInt(c.Stock, 10), event.Segment)
	}
	step.Says = cmp.Or(d.findingSentences(func(f Finding) bool { // Findings that the command caused take the place of its sentence.
		return f.At.Equal(event.Replied) && f.Subject == actorOf(event) && (f.Kind != WaitsForItself || c.Verb == Takes)
	}), commandSentence(d.in, event))
	return append(all, timedStep{event.Replied, step})
}

// pollTime returns the time at which the attempts before a command are drawn: when the last of them was sent. The known time of an expiry
// is the earliest possible one. If an attempt shortly afterwards still found the lock, it is drawn before the expiry.
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

// isDelayed reports whether, while a command was on its way, its sale learned of the loss of its lock, its replica was stopped, or the
// command was held.
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

// sender returns the sale on whose lifeline a command is drawn: its own or, for a replica's command, the sale in the critical section
// there; empty for a command sent by hand.
func (d *traceBuilder) sender(event Event) string {
	if event.Sale != "" || event.Command.Holder == "" {
		return event.Sale
	}
	for _, section := range d.account.CriticalSections {
		if ReplicaOf(section.Sale) == event.Replica && section.Contains(event.Replied) && slices.Contains(d.sales, section.Sale) {
			return section.Sale
		}
	}
	return d.firstSaleOf(event.Replica)
}

// findingSentences joins the sentences of the findings for which matches reports true.
func (d *traceBuilder) findingSentences(matches func(Finding) bool) (sentences string) {
	for _, f := range d.account.Findings {
		if matches(f) {
			sentences = d.join(sentences, f.Sentence(d.in))
		}
	}
	return sentences
}

// join joins two sentences, either of which may be empty.
func (d *traceBuilder) join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return strings.Join([]string{a, b}, language.Both("; ", "；").In(d.in))
}

// withSegment appends the stock segment to a text, if the stock has segments.
func withSegment(text string, segment int) string {
	if segment == 0 {
		return text
	}
	return fmt.Sprintf("%s (%d)", text, segment)
}

// withState returns a step with the state after it, until the next step.
func (d *traceBuilder) withState(step trace.Step, at, until time.Time) trace.Step {
	a := d.account
	d.drawn[step.Actor] = true
	step.At = trace.Millis(at.Sub(a.Events[0].Sent))
	var segmentHolders []string
	for _, h := range a.Holdings {
		switch {
		case h.Contains(at) && h.Segment > 0:
			segmentHolders = append(segmentHolders, withSegment(h.Holder, h.Segment))
		case h.Contains(at):
			step.Lock = h.Holder
		}
	}
	step.Lock = cmp.Or(step.Lock, strings.Join(segmentHolders, ", "))
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

// stance returns the stance of a sale at a time. A sale that enters the critical section before until, the time of the next step, is drawn
// inside, because its command has obtained the lock. A sale that is inside before its first step is drawn counts as absent: steps of the
// same moment are drawn one after the other.
func (d *traceBuilder) stance(sale string, at, until time.Time) trace.Stance {
	var latest *Sale // latest sale of that name, because its replica may have been restarted
	for _, s := range d.account.Sales {
		if s.Name == sale && !s.beganAt().IsZero() && !s.beganAt().After(at) {
			latest = s
		}
	}
	isPaused := slices.ContainsFunc(d.account.Stops, func(s Stop) bool {
		return s.Replica == ReplicaOf(sale) && s.Contains(at)
	})
	isInside := slices.ContainsFunc(d.account.CriticalSections, func(i *CriticalSection) bool {
		return i.Sale == sale && (i.Contains(at) || i.From.After(at) && i.From.Before(until))
	})
	switch {
	case latest == nil, isInside && !d.drawn[sale]:
		return trace.Absent
	case !latest.EndedAt.IsZero() && !latest.EndedAt.After(at):
		if latest.Died {
			return trace.Dead
		}
		return trace.Ended
	case isPaused && isInside:
		return trace.PausedInside
	case isPaused:
		return trace.Paused
	case isInside:
		return trace.Inside
	default:
		return trace.Outside
	}
}
