// Package checker watches an execution from outside, knowing what no actor can know, and says which anomalies it has shown.
//
// Whose the lock is in truth follows from what the servers hold: an actor that writes the lock's key owns it on that server, and the
// holder is the actor that owns it on most of them (owners.go). Who believes that it holds the lock follows from the leases (sale.go).
// The anomalies are what must not follow from both (this file), and a lock that stays for ever is left behind if newcomers, an age
// later, do not get it (orphan.go).
package checker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/service/history"
	"lockstep/internal/service/reason"
)

// Checker looks at one execution. It implements execution.Checker.
type Checker struct {
	x       *engine.Execution
	scope   strategy.Scope // of the lock: whom it is to keep out
	futures Futures

	owners  []ownership              // of the lock on each server
	synced  []*ownership             // and on its replica, if that lags
	holder  int                      // index of the actor whose lock it is, -1: nobody's
	sales   []*sale                  // of each actor
	had     map[*engine.Process]bool // it was a holder, and has not given the lock back since
	refused []*sale                  // in this step, by the word that another one has the lock
	order   order
	ordered bool // it matters who asked first

	untellable bool // Redis does not say of a sale that entered whether the lock is still its own
	undecided  bool // time might end a wait that was not gone on with
	found      []anomaly.Found
}

// Futures begin executions that tell how a schedule would go on. It cannot go on itself before end.
type Futures struct {
	// Newcomers begins one of two newcomers, on what the servers would hold so long after they held this. The first tries once.
	Newcomers func(held []*simredis.State, at, after time.Duration) (newcomers *Checker, end func(), err error)
	// Again begins one that is where the schedule is.
	Again func() (copied *Checker, end func())
}

// Those two, by their indices.
const trying, waiting = 0, 1

// New makes a checker of an execution, and lets it see it.
func New(x *engine.Execution, of strategy.Strategy, futures Futures) *Checker {
	c := &Checker{x: x, scope: of.Scope, futures: futures, holder: nobody, had: map[*engine.Process]bool{}}
	c.order.touched = map[*engine.Process]int{}
	for range x.Cluster.Servers() {
		c.owners, c.synced = append(c.owners, ownedBy(nobody)), append(c.synced, nil)
	}
	for _, a := range x.Actors() {
		c.sales = append(c.sales, &sale{actor: a})
	}
	x.Observe(c)
	return c
}

// report takes an anomaly down, and what it says in each language: formats, for the same values. A token may be a time.
func (c *Checker) report(a anomaly.Anomaly, english, chinese string, values ...any) {
	c.found = append(c.found, anomaly.Found{Anomaly: a, Says: simredis.Relative(c.x.Scenario.Say(english, chinese, values...))})
}

// Reset forgets what was found, before the next transition.
func (c *Checker) Reset() {
	c.found, c.refused = nil, nil
	for _, s := range c.sales {
		if c.x.Queues(s.actor) { // it waits without a command
			c.enqueue(s)
		}
	}
}

// Check looks at what is so after a transition. It gives what was found since the last Reset, and whether the schedule is over.
func (c *Checker) Check() (found []anomaly.Found, over bool) {
	c.checkInside()
	c.checkTold()
	c.checkProgress()
	c.checkRefused()
	c.checkFreed()
	for _, a := range c.outlived() {
		c.report(anomaly.GoroutineLeak, "%s's sale has ended, and a goroutine of it has not", "%s 的下单已经结束，它的 goroutine 还没有", a.Name)
	}
	transitions := c.x.Transitions()
	c.checkIdle(transitions)
	c.checkAsleep(transitions)
	quiet := c.x.IsQuiet()
	if !slices.ContainsFunc(transitions, engine.Transition.Progress) || c.x.LastResort() {
		c.checkSelfLocked()
	}
	over = len(transitions) == 0 || quiet && c.isDeadlocked() || !quiet && c.x.Circling() && c.isLivelocked()
	if over && !c.undecided {
		c.checkEnd()
	}
	return c.found, over
}

// checkInside looks for several who believe that they hold the lock.
func (c *Checker) checkInside() {
	if c.scope == strategy.Nobody {
		return
	}
	var inside []*sale
	for _, s := range c.sales {
		if !s.inside() {
			continue
		}
		apart := func(other *sale) bool { return c.scope != strategy.Everybody && other.actor.Process != s.actor.Process }
		if beside := slices.DeleteFunc(slices.Clone(inside), apart); len(beside) > 0 {
			c.findInside(append(beside, s))
		}
		inside = append(inside, s)
	}
}

// findInside takes down that all of these are inside.
func (c *Checker) findInside(sales []*sale) {
	var names []string
	for _, s := range sales {
		names = append(names, s.actor.Name)
	}
	last := len(names) - 1
	all := c.x.Scenario.Say("%s and %s", "%s 和 %s", strings.Join(names[:last], c.x.Scenario.Say(", ", "、")), names[last])
	if last == 1 {
		c.report(anomaly.TwoHolders, "%s are both inside", "%s 同时在临界区里", all)
	} else {
		c.report(anomaly.TwoHolders, "%s are inside", "%s 同时在临界区里", all)
	}
}

// checkProgress looks for sales that failed although nothing went wrong: no fault has happened, and there is something left to sell. One
// that tries once may.
func (c *Checker) checkProgress() {
	if c.x.Faulted() || c.x.Cluster.Stored().Stock() == "0" {
		return
	}
	for _, s := range c.sales {
		if a := s.actor; a.Finished() && a.Err() != nil && !a.Once() && !s.lost {
			c.report(anomaly.Progress, "%s fails, though nothing went wrong: %s", "没有任何故障，%s 却失败了：%s",
				a.Name, reason.InShort(c.x.Scenario.Language, a.Err()))
		}
	}
}

// checkEnd looks at what is left when nothing more will happen.
func (c *Checker) checkEnd() {
	abandoned := c.holder < 0 || !c.sales[c.holder].inside()
	if abandoned && c.stays() {
		c.report(anomaly.LeftBehind, "the lock stays for ever, and nobody holds it", "锁永远残留，没有谁持有它")
	}
	for _, a := range c.x.Actors() {
		if !a.Finished() && !a.Dead() {
			c.report(anomaly.Stuck, "%s can never go on", "%s 再也无法继续", a.Name)
		}
	}
}

// Booked implements execution.Checker. After a rollback the stock may be larger than a sale has read: the sales that made it smaller are
// forgotten, and the write loses none.
func (c *Checker) Booked(before *simredis.State, orders []history.Order) {
	for _, order := range orders {
		if before.HasOrder(order.ID) {
			c.report(anomaly.DoubleSale, "%s is sold again: stock %d -> %d", "%s 又卖出一次：库存 %d -> %d", order.ID, order.Before, order.After)
		}
		held := before.Stock()
		stock, err := strconv.ParseInt(held, 10, 64)
		forgotten := err == nil && stock > order.Before && c.x.Took(engine.RollsBack)
		if held != fmt.Sprint(order.Before) && !forgotten {
			c.report(anomaly.LostUpdate, "%s writes %d, having read %d, but the stock was %s by then: a sale is lost",
				"%s 读到 %[3]d，写入 %[2]d，而库存那时已是 %[4]s：丢失一单的更新",
				order.ID, order.After, order.Before, held)
		}
	}
}

// AppendState implements execution.Checker.
func (c *Checker) AppendState(b []byte, o engine.Order) []byte {
	b = strconv.AppendInt(append(b, '|'), int64(o.Place(c.holder)), 10)
	b = strconv.AppendInt(append(b, ' '), int64(o.Place(c.owners[0].claimant)), 10)
	b = strconv.AppendBool(b, c.owners[0].counts)
	b = c.appendSynced(b, 0, o)
	for _, actor := range o.Actors {
		b = c.AppendActor(b, actor)
	}
	return c.appendMoments(c.appendPlaces(c.appendOrder(b, o), o), o)
}

// AppendActor implements execution.Checker.
func (c *Checker) AppendActor(b []byte, actor int) []byte {
	s := c.sales[actor]
	if s.actor.Dead() {
		return b
	}
	b = append(b, '|')
	for _, is := range [...]bool{
		s.bereft, s.keyed, s.named, s.lost, s.gave, s.spoiled, s.timedOut, s.leaves && c.x.Now() > s.left, s.met && s.actor.Once(), s.leftovers,
		c.had[s.actor.Process],
	} {
		b = strconv.AppendBool(b, is)
	}
	return b
}

// AppendServer implements execution.Checker.
func (c *Checker) AppendServer(b []byte, server int, o engine.Order) []byte {
	is := c.owners[server]
	return c.appendSynced(fmt.Appendf(b, "%d %d %t ", o.Place(is.owner), o.Place(is.claimant), is.counts), server, o)
}
