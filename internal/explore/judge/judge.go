// Package judge watches who uses a lock from outside, knowing what none of them can know, and says which anomalies it has seen. It
// judges the explorer's runs, and those of locktest.
//
// It is told what happens, by plain values: an actor asks for the lock, enters with a lease, is refused, unlocks; a server holds something
// else than before. Who lets that happen is a Driver, of which it asks little.
//
// Whose the lock is in truth follows from what the servers hold: an actor that writes the lock's key owns it on that server, and the
// holder is the actor that owns it on most of them (owners.go). What a value says follows from the names in it, or from who has sent it
// (names.go). Who believes that it holds the lock follows from the leases (sale.go). The anomalies are what must not follow from both:
// this file, what locks say (words.go), in which order, and with which tokens (order.go). How a schedule would go on is its driver's to
// say.
package judge

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

// Driver lets things happen, and knows what nobody is told.
type Driver interface {
	Now() time.Duration
	Contents() []*simredis.State // of each server
	Past() Past
}

// Past is what has happened so far that may excuse a lock.
type Past struct {
	Faulted    bool // something went wrong
	Waited     bool // time passed
	Resent     bool // a client sent a command again
	RolledBack bool // a server forgot what it had acknowledged
	SoldOut    bool // there is nothing left to sell
}

// Actor is one who uses the lock.
type Actor struct {
	Name    string
	Process string // those of one process share what they have of the lock
	Once    bool   // it tries once, and does not wait
	Life
}

// Life is what a driver knows of an actor.
type Life interface {
	Started() bool
	Paused() bool
	Dead() bool
	Finished() bool // with Err
	Err() error
}

// Setup is what a judge begins with.
type Setup struct {
	Driver    Driver
	Actors    []Actor
	Key       string         // of the lock
	Scope     strategy.Scope // of the lock: whom it is to keep out
	OnNodes   bool           // the lock is on several masters, and not on the first server
	Overtakes int            // how often a sale may be overtaken by others that asked after it; 0: nobody counts
	Within    time.Duration  // the lock of a holder that died has to be free; 0: it may take any time that ends
	Fenced    bool           // a holder that is paused does no harm if its token is old

	// Sender returns the process that alone has sent one of these values, "" if there is none. It is for locks of any code, whose commands
	// are known to come from a process, and not from which of its actors. Nil: values have the names of their owners in them.
	Sender func(values []string) (process string)
}

// Judge looks at one execution.
type Judge struct {
	*owners
	order order
	words words
}

// scene is what all that look at it share.
type scene struct {
	Setup
	sales []*Sale // one for each actor, by its index
	clock int     // counts what has changed of the lock
	found []Finding

	unjudged []anomaly.Anomaly // the anomalies that cannot be judged, because Redis does not show them: each once
}

// New makes a judge.
func New(setup Setup) *Judge {
	s := &scene{Setup: setup}
	for _, a := range setup.Actors {
		s.Add(a)
	}
	o := newOwners(s)
	return &Judge{o, order{owners: o, touched: map[string]int{}}, words{o}}
}

// Add adds an actor.
func (c *scene) Add(a Actor) { c.sales = append(c.sales, &Sale{Actor: a, index: len(c.sales)}) }

// Report takes an anomaly down, and how it has shown, unless it cannot be judged.
func (c *scene) Report(a anomaly.Anomaly, how How, values ...any) {
	if !slices.Contains(c.unjudged, a) {
		c.found = append(c.found, Finding{a, how, values})
	}
}

// Unjudge has anomalies not judged from now on, as Redis does not tell whether they happen.
func (c *scene) Unjudge(all ...anomaly.Anomaly) {
	for _, a := range all {
		if !slices.Contains(c.unjudged, a) {
			c.unjudged = append(c.unjudged, a)
		}
	}
}

// Unjudged returns the anomalies that cannot be judged in this execution.
func (c *scene) Unjudged() []anomaly.Anomaly { return c.unjudged }

// Found returns what was found since the last Reset.
func (c *scene) Found() []Finding { return c.found }

// masters returns what those servers hold that the lock is on.
func (c *scene) masters() []*simredis.State {
	if c.OnNodes {
		return c.Driver.Contents()[1:]
	}
	return c.Driver.Contents()
}

// locked returns the lock's key; of several masters, the first one's.
func (c *scene) locked() (key simredis.Key, has bool) {
	for _, s := range c.masters() {
		if key, has = s.Key(c.Key); has {
			break
		}
	}
	return key, has
}

// any reports whether something is so of a sale.
func (c *scene) any(is func(*Sale) bool) bool { return slices.ContainsFunc(c.sales, is) }

// Reset forgets what was found, before the next thing happens.
func (c *Judge) Reset() { c.found = nil }

// Check looks at what is so after something has happened.
func (c *Judge) Check() {
	c.checkInside()
	c.words.checkTold()
	c.checkProgress()
	c.checkFreed()
}

// checkInside looks for several who believe that they hold the lock.
func (c *Judge) checkInside() {
	if c.Scope == strategy.Nobody {
		return
	}
	var inside []*Sale
	for _, s := range c.sales {
		if !s.IsInside() || s.isToStop() || c.Fenced && c.order.isFenced(s) {
			continue
		}
		apart := func(other *Sale) bool { return c.Scope != strategy.Everybody && other.Process != s.Process }
		if beside := slices.DeleteFunc(slices.Clone(inside), apart); len(beside) > 0 {
			c.findInside(append(beside, s))
		}
		inside = append(inside, s)
	}
}

// findInside takes down that all of these are inside.
func (c *Judge) findInside(sales []*Sale) {
	var names []string
	for _, s := range sales {
		names = append(names, s.Name)
	}
	how := AllInside
	if len(names) == 2 {
		how = BothInside
	}
	c.Report(anomaly.TwoHolders, how, names)
}

// checkProgress looks for sales that failed although nothing went wrong: no fault has happened, and there is something left to sell. One
// that tries once may.
func (c *Judge) checkProgress() {
	for _, s := range c.sales {
		if s.Finished() && s.Err() != nil && !s.Once && !s.lost && !c.Driver.Past().Faulted && !c.Driver.Past().SoldOut {
			c.Report(anomaly.Progress, Fails, s.Name, s.Err())
		}
	}
}

// checkFreed looks for the lock of a holder that died which stays for longer than it may.
func (c *Judge) checkFreed() {
	if c.Within == 0 || c.holder == nobody || !c.sales[c.holder].Dead() {
		return
	}
	if key, has := c.locked(); has && key.TTL > c.Within {
		c.Report(anomaly.LeftBehind, OutlivesHolder, c.sales[c.holder].Name, key.TTL)
	}
}

// HasRemains reports whether something of the lock's is there for ever.
func (c *Judge) HasRemains() bool {
	stays := func(k simredis.Key) bool { return k.TTL == 0 }
	return slices.ContainsFunc(c.masters(), func(s *simredis.State) bool { return slices.ContainsFunc(s.Transient, stays) })
}

// Leak sees that a goroutine of an actor's still runs, although all of its process have finished.
func (c *Judge) Leak(actor int) {
	c.Report(anomaly.GoroutineLeak, GoroutineOutlives, c.sales[actor].Name)
}

// Book sees that an order was added to the ledger, which may have had it before, when the stock was this. After a rollback the stock may be
// larger than a sale has read: the sales that made it smaller are forgotten, and the write loses none.
func (c *Judge) Book(order history.Order, again bool, held string) {
	if again {
		c.Report(anomaly.DoubleSale, SoldTwice, order.ID, order.Before, order.After)
	}
	stock, err := strconv.ParseInt(held, 10, 64)
	forgotten := err == nil && stock > order.Before && c.Driver.Past().RolledBack
	if held != fmt.Sprint(order.Before) && !forgotten {
		c.Report(anomaly.LostUpdate, Overwritten, order.ID, order.After, order.Before, held)
	}
}

// Order is in which order actors are written, by their indices, and, by its index, what stands for each.
type Order struct {
	Actors []int
	Places []byte
}

// place returns what stands for an actor: what is below zero for nobody.
func (o Order) place(actor int) int {
	if actor < 0 {
		return actor
	}
	return int(o.Places[actor])
}

// AppendState writes what is known beside what servers hold, for what tells states apart.
func (c *Judge) AppendState(b []byte, o Order) []byte {
	b = strconv.AppendInt(append(b, '|'), int64(o.place(c.holder)), 10)
	b = c.AppendServer(append(b, ' '), 0, o)
	if len(c.unjudged) > 0 {
		b = fmt.Append(b, c.unjudged)
	}
	for _, actor := range o.Actors {
		b = c.AppendActor(b, actor)
	}
	return c.AppendOrder(b, o)
}

// AppendOrder writes who obtained the lock, and who asked for it, before whom.
func (c *Judge) AppendOrder(b []byte, o Order) []byte {
	return c.order.appendPlaces(c.order.appendOrder(b, o), o)
}

// AppendActor writes what is known of an actor.
func (c *Judge) AppendActor(b []byte, actor int) []byte {
	s := c.sales[actor]
	if s.Dead() {
		return b
	}
	b = append(b, '|')
	for _, is := range [...]bool{
		s.bereft, s.keyed, s.lost, s.gave, s.timedOut, s.leaves && c.Driver.Now() > s.left, s.keeps, c.had[s.Process], s.met && s.Once,
	} {
		b = strconv.AppendBool(b, is)
	}
	return b
}
