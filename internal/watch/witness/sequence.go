package witness

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/explore/trace"
	"lockstep/internal/language"
)

// Trace writes down what happened to some sales, for the drawings that the explorer has, too; without names, to all of them.
func (a Account) Trace(in language.Language, sales ...string) trace.Trace {
	if len(sales) == 0 {
		sales = a.names()
	}
	t := trace.Trace{Actors: sales, Nodes: a.nodes, Language: in}
	if len(a.Events) == 0 {
		return t
	}
	d := drawing{in: in, account: &a, sales: sales, began: a.Events[0].Sent}
	moments := d.moments()
	for i, moment := range moments {
		d.until = a.end().Add(1)
		if i+1 < len(moments) {
			d.until = moments[i+1].at
		}
		d.stepsOf(moment)
	}
	t.Steps = d.steps
	return t
}

// names gives the short names of all sales, in the order in which they began.
func (a *Account) names() (names []string) {
	for _, event := range a.Events {
		if event.Sale != "" && !slices.Contains(names, event.Sale) {
			names = append(names, event.Sale)
		}
	}
	return names
}

// drawing turns an account into steps.
type drawing struct {
	in      language.Language
	account *Account
	sales   []string
	began   time.Time
	until   time.Time // when the step after this one comes
	stock   string
	steps   []trace.Step
}

// moment is an event, or the expiry of a lock, which is none.
type moment struct {
	at      time.Time
	event   *Event
	expired *Holding
}

func (d *drawing) moments() []moment {
	var all []moment
	for i, event := range d.account.Events {
		if d.shows(event) {
			all = append(all, moment{at: event.Replied, event: &d.account.Events[i]})
		}
	}
	for _, h := range d.account.Holdings {
		if h.End == Expired {
			all = append(all, moment{at: h.To, expired: h})
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return a.at.Compare(b.at) })
	return all
}

// shows reports whether an event gets a step: those of other sales do not, nor the moments that a command beside them shows.
func (d *drawing) shows(event Event) bool {
	if _, is := d.happening(event); is {
		return true
	}
	switch event.Kind {
	case KindDies, KindStops, KindGoes, KindHeld, KindFreed, KindCut, KindMend, KindMessageLost:
		return d.firstOf(event.Replica) != ""
	case KindEmptied, KindCrashes, KindLags, KindFailsOver:
		return true
	case KindCommand:
		return event.Sale == "" || slices.Contains(d.sales, event.Sale)
	case KindEnds, KindLoses:
		return slices.Contains(d.sales, event.Sale)
	default:
		return false
	}
}

// firstOf gives the first sale of a replica.
func (d *drawing) firstOf(replica string) string {
	for _, sale := range d.sales {
		if ReplicaOf(sale) == replica {
			return sale
		}
	}
	return ""
}

func (d *drawing) stepsOf(m moment) {
	if m.expired != nil {
		d.add(m.at, trace.Step{Kind: trace.KindTime, Says: phrase(d.in, "expires", m.expired.Holder)})
		return
	}
	event := *m.event
	if step, is := d.happening(event); is {
		d.add(m.at, step)
		return
	}
	if kind, is := faults()[event.Kind]; is {
		d.add(m.at, trace.Step{Actor: d.firstOf(event.Replica), Kind: kind, Node: event.Node, Says: d.saysOfFault(event)})
		return
	}
	switch event.Kind {
	case KindLoses:
		d.add(m.at, trace.Step{Actor: event.Sale, Kind: trace.KindWoken, Says: phrase(d.in, "loses", event.Sale)})
	case KindEnds:
		d.add(m.at, trace.Step{Actor: event.Sale, Kind: trace.KindEnds, Says: saysOfEnd(d.in, event)})
	default:
		d.command(m.at, event)
	}
}

// command adds the step of a command, after one for the attempts that were not noted.
func (d *drawing) command(at time.Time, event Event) {
	c, until, sender := event.Command, d.until, d.sender(at, event)
	if c.Polls > 0 {
		d.until = event.Sent
		d.add(event.Sent, trace.Step{Actor: sender, Kind: trace.KindWaits, Says: saysOfPolls(d.in, event)})
	}
	d.until = until
	if (c.Verb == Reads || c.Verb == Writes) && c.Outcome == Done {
		d.stock = strconv.FormatInt(c.Stock, 10)
	}
	step := trace.Step{
		Token: c.Name, Actor: sender, Kind: trace.KindCommand, Node: event.Node, Command: c.Text, Reply: c.Reply, Says: d.says(event),
	}
	if c.Outcome == Unknown {
		step.Kind, step.Reply = trace.KindLostReply, "?"
	}
	d.add(at, step)
}

// sender gives the sale on whose lifeline a command is drawn: its own, or, for one of a replica, the one that is at work there; "" for
// one by hand.
func (d *drawing) sender(at time.Time, event Event) string {
	if event.Sale != "" || event.Command.Holder == "" {
		return event.Sale
	}
	for _, i := range d.account.Insides {
		if ReplicaOf(i.Sale) == event.Replica && i.covers(at) && slices.Contains(d.sales, i.Sale) {
			return i.Sale
		}
	}
	return d.firstOf(event.Replica)
}

// says gives the sentences of the findings that a command is to blame for, or says what it did.
func (d *drawing) says(event Event) string {
	var says []string
	for _, f := range d.account.Findings {
		if f.At.Equal(event.Replied) && f.By == actor(event) && (f.Kind != WaitsForItself || event.Command.Verb == Takes) {
			says = append(says, f.Says(d.in))
		}
	}
	if len(says) == 0 {
		says = []string{saysOfCommand(d.in, event)}
	}
	return strings.Join(says, phrase(d.in, "and"))
}

// saysOfFault says what happened to a replica or to a Redis, and what was forgotten by that.
func (d *drawing) saysOfFault(event Event) string {
	says := []string{saysOfFault(d.in, event)}
	for _, f := range d.account.Of(Forgot) {
		if f.At.Equal(event.Replied) {
			says = append(says, f.Says(d.in))
		}
	}
	return strings.Join(says, phrase(d.in, "and"))
}

// add adds a step, with what is so after it.
func (d *drawing) add(at time.Time, step trace.Step) {
	step.At = trace.Millis(at.Sub(d.began))
	for _, h := range d.account.Holdings {
		if h.covers(at) {
			step.Lock = h.Holder
		}
	}
	step.Stock, step.Nodes = d.stock, d.account.nodesAt(at)
	for _, sale := range d.sales {
		step.Standing = append(step.Standing, d.stance(sale, at))
	}
	d.steps = append(d.steps, step)
}

// stance is where a sale stands at a moment. A sale that obtains the lock before the next step is inside: its command has said so.
func (d *drawing) stance(sale string, at time.Time) trace.Stance {
	stance, paused := trace.Absent, false
	for _, event := range d.account.Events {
		if event.Replied.After(at) {
			break
		}
		switch {
		case event.Sale == sale && (event.Kind == KindAsks || event.Kind == KindRuns) && stance == trace.Absent:
			stance = trace.Outside
		case event.Sale == sale && (event.Kind == KindEnds || event.Kind == KindRan):
			stance = trace.Ended
		case event.Replica != ReplicaOf(sale) || stance == trace.Absent || stance == trace.Ended:
		case event.Kind == KindDies:
			stance = trace.Dead
		case event.Kind == KindStops:
			paused = true
		case event.Kind == KindGoes:
			paused = false
		}
	}
	inside := slices.ContainsFunc(d.account.Insides, func(i *Inside) bool {
		return i.Sale == sale && (i.covers(at) || i.From.After(at) && i.From.Before(d.until))
	})
	switch {
	case stance != trace.Outside:
		return stance
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
