// Package judge detects the anomalies that a run of a lock shows. It observes the lock's users from outside and knows what none of them can
// know: what every server holds, and which actors believe that they hold the lock. It judges the explorer's runs and those of package
// locktest.
//
// Begin with Judge. Its Record methods report events as plain values: an actor asks for the lock, enters the critical section with a lease,
// is refused, unlocks; the contents of a server change. The runner of the actors implements Driver, which answers the judge's few
// questions.
//
// The true holder follows from what the servers hold: an actor that writes the lock's key owns it on that server, and the holder is the
// actor that owns it on a majority of them (owners.go). A value in Redis is attributed to an actor by the names it contains, or by the
// process that has sent it (names.go). Which actors believe that they hold the lock follows from their leases (sale.go). An anomaly is a
// contradiction between the two: this file, what a lock reports to its callers (lock_reports.go), and the order of holders and their
// fencing tokens (order.go). The judge does not predict how a schedule would continue; its driver does.
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

// Driver runs the actors, and answers the judge's questions about the run.
type Driver interface {
	Now() time.Duration          // time since the start of the run
	Contents() []*simredis.State // current contents of each server
	Excuses() Excuses            // events so far that excuse behavior
}

// Excuses lists the events so far that excuse behavior which would otherwise be an anomaly.
type Excuses struct {
	FaultHappened bool // any fault
	TimePassed    bool // time has passed to a timer or an expiry
	CommandResent bool // a client sent a command again
	RolledBack    bool // a server lost writes that it had acknowledged
	SoldOut       bool // no stock is left
}

// Actor is one user of the lock.
type Actor struct {
	Name       string // name of the actor in sentences
	Process    string // actors of one process may share its hold on the lock
	TriesOnce  bool   // calls TryLock, which does not wait, instead of Lock
	ActorState        // implemented by the driver
}

// ActorState reports the current state of an actor.
type ActorState interface {
	Started() bool  // the actor has begun its sale
	Paused() bool   // the actor's process is paused
	Dead() bool     // the actor's process has crashed
	Finished() bool // the sale has returned Err
	Err() error     // error of the sale; nil: success, or not finished
}

// Setup configures a Judge.
type Setup struct {
	Driver       Driver         // runner of the actors
	Actors       []Actor        // users of the lock at the start; Add adds more
	Key          string         // Redis key of the lock
	Scope        strategy.Scope // the actors that the lock promises to exclude
	OnNodes      bool           // the lock is on a majority of all servers but the first; false: it is on a majority of all servers
	MaxOvertakes int            // limit on how often later arrivals may overtake a waiting sale; 0: overtaking is not judged
	FreeWithin   time.Duration  // longest time that the lock of a dead holder may remain; 0: any finite time
	TrustFencing bool           // a paused holder is harmless once a later holder has a larger fencing token

	// Sender returns the one process that has sent any of these values, or "" if there is no such process or more than one. It is for
	// locks of unknown code, where a command can be traced to a process but not to one of its actors. Nil: values contain the names of
	// their owners.
	Sender func(values []string) (process string)
}

// Judge observes one execution and detects its anomalies.
type Judge struct {
	*ownerTracker               // true holder of the lock
	order         orderChecker  // order of holders and their tokens
	reports       reportChecker // reports of the lock to its callers
}

// commonState is shared by all parts of a Judge.
type commonState struct {
	Setup
	sales    []*Sale     // indexed by actor
	clock    int         // logical time: it advances when the lock changes, and when an actor begins to wait
	detected []Detection // anomalies detected since the last Reset

	unjudged []anomaly.Anomaly // anomalies that cannot be judged because Redis does not show them, without duplicates
}

// New returns a Judge for an execution that has not begun.
func New(setup Setup) *Judge {
	st := &commonState{Setup: setup}
	for _, a := range setup.Actors {
		st.Add(a)
	}
	owners := newOwnerTracker(st)
	return &Judge{owners, orderChecker{ownerTracker: owners, lastChange: map[string]int{}}, reportChecker{owners}}
}

// Add adds an actor. Its index is the number of actors before it.
func (st *commonState) Add(a Actor) {
	st.sales = append(st.sales, &Sale{Actor: a, index: len(st.sales)})
}

// Report records an anomaly with its symptom, unless that anomaly is excluded from judgment.
func (st *commonState) Report(a anomaly.Anomaly, symptom Symptom, values ...any) {
	if !slices.Contains(st.unjudged, a) {
		st.detected = append(st.detected, Detection{a, symptom, values})
	}
}

// ExcludeAnomalies stops judging these anomalies, because Redis does not show whether they happen.
func (st *commonState) ExcludeAnomalies(all ...anomaly.Anomaly) {
	for _, a := range all {
		if !slices.Contains(st.unjudged, a) {
			st.unjudged = append(st.unjudged, a)
		}
	}
}

// Unjudged returns the anomalies that cannot be judged in this execution.
func (st *commonState) Unjudged() []anomaly.Anomaly { return st.unjudged }

// Detected returns the anomalies detected since the last Reset.
func (st *commonState) Detected() []Detection { return st.detected }

// lockServers returns the contents of the servers that the lock is on.
func (st *commonState) lockServers() []*simredis.State {
	if st.OnNodes {
		return st.Driver.Contents()[1:]
	}
	return st.Driver.Contents()
}

// lockKey returns the lock's key from the first server that has it.
func (st *commonState) lockKey() (key simredis.Key, ok bool) {
	for _, server := range st.lockServers() {
		if key, ok = server.Key(st.Key); ok {
			break
		}
	}
	return key, ok
}

// hasSale reports whether any sale matches the predicate.
func (st *commonState) hasSale(matches func(*Sale) bool) bool {
	return slices.ContainsFunc(st.sales, matches)
}

// Reset discards the detected anomalies. Call it before the next event.
func (j *Judge) Reset() { j.detected = nil }

// Check judges the state that the last event has led to.
func (j *Judge) Check() {
	j.checkExclusion()
	j.reports.checkLossNotices()
	j.checkProgress()
	j.checkDeadHolder()
}

// checkExclusion detects sales that are in the critical section at the same time although the lock promises to exclude one of them.
func (j *Judge) checkExclusion() {
	if j.Scope == strategy.Nobody {
		return
	}
	var entered []*Sale
	for _, s := range j.sales {
		if !s.IsInCriticalSection() || s.isStopped() || j.TrustFencing && j.order.isFenced(s) {
			continue
		}
		mayCoexist := func(other *Sale) bool { return j.Scope != strategy.Everybody && other.Process != s.Process }
		if conflicting := slices.DeleteFunc(slices.Clone(entered), mayCoexist); len(conflicting) > 0 {
			j.reportHolders(append(conflicting, s))
		}
		entered = append(entered, s)
	}
}

// reportHolders reports that all of these sales are in the critical section.
func (j *Judge) reportHolders(sales []*Sale) {
	var names []string
	for _, s := range sales {
		names = append(names, s.Name)
	}
	symptom := SeveralEntered
	if len(names) == 2 {
		symptom = TwoEntered
	}
	j.Report(anomaly.TwoHolders, symptom, names)
}

// checkProgress detects sales that failed without a reason: no fault has happened, stock is left, and the sale did not lose its lock. A
// sale that tries only once may fail.
func (j *Judge) checkProgress() {
	for _, s := range j.sales {
		if s.Finished() && s.Err() != nil && !s.TriesOnce && !s.lostLock && !j.Driver.Excuses().FaultHappened && !j.Driver.Excuses().SoldOut {
			j.Report(anomaly.Progress, SaleFails, s.Name, s.Err())
		}
	}
}

// checkDeadHolder detects a dead holder's lock that will remain for longer than FreeWithin.
func (j *Judge) checkDeadHolder() {
	if j.FreeWithin == 0 || j.holder == nobody || !j.sales[j.holder].Dead() {
		return
	}
	if key, ok := j.lockKey(); ok && key.TTL > j.FreeWithin {
		j.Report(anomaly.LeftBehind, LockOutlivesHolder, j.sales[j.holder].Name, key.TTL)
	}
}

// HasRemains reports whether a server that the lock is on holds a key of the lock without an expiry.
func (j *Judge) HasRemains() bool {
	stays := func(k simredis.Key) bool { return k.TTL == 0 }
	return slices.ContainsFunc(j.lockServers(), func(s *simredis.State) bool { return slices.ContainsFunc(s.Transient, stays) })
}

// ReportLeak reports that a goroutine or a timer of an actor still exists although all actors of its process have finished.
func (j *Judge) ReportLeak(actor int, goroutine string, isTimer bool) {
	if isTimer {
		j.Report(anomaly.GoroutineLeak, TimerOutlivesSale, j.sales[actor].Name)
		return
	}
	j.Report(anomaly.GoroutineLeak, GoroutineOutlivesSale, j.sales[actor].Name, goroutine)
}

// RecordOrder records that an order was written to the ledger. isRepeated reports whether the ledger had the order already; stock is the
// server's stock before the write. After a rollback the stock may be larger than the sale has read: the sales that had reduced it are
// forgotten, so the write loses none of them.
func (j *Judge) RecordOrder(order history.Order, isRepeated bool, stock string) {
	if isRepeated {
		j.Report(anomaly.DoubleSale, SoldTwice, order.ID, order.Before, order.After)
	}
	pieces, err := strconv.ParseInt(stock, 10, 64)
	isRolledBack := err == nil && pieces > order.Before && j.Driver.Excuses().RolledBack
	if stock != fmt.Sprint(order.Before) && !isRolledBack {
		j.Report(anomaly.LostUpdate, StaleWrite, order.ID, order.After, order.Before, stock)
	}
}

// ActorOrder is the canonical order of the actors in a state hash. It makes states equal that differ only in the names of actors.
type ActorOrder struct {
	Actors []int  // actor indices, in canonical order
	Labels []byte // label that replaces an actor in the hash, by actor index
}

// label returns the label of an actor. A negative index, which stands for nobody, is its own label.
func (o ActorOrder) label(actor int) int {
	if actor < 0 {
		return actor
	}
	return int(o.Labels[actor])
}

// AppendState appends the judge's knowledge about all actors and the first server to the data of a state hash.
func (j *Judge) AppendState(b []byte, order ActorOrder) []byte {
	b = strconv.AppendInt(append(b, '|'), int64(order.label(j.holder)), 10)
	b = j.AppendServer(append(b, ' '), 0, order)
	if len(j.unjudged) > 0 {
		b = fmt.Append(b, j.unjudged)
	}
	for _, actor := range order.Actors {
		b = j.AppendActor(b, actor)
	}
	return j.AppendOrder(b, order)
}

// AppendOrder appends the order in which actors obtained the lock and asked for it to the data of a state hash.
func (j *Judge) AppendOrder(b []byte, order ActorOrder) []byte {
	return j.order.appendQueue(j.order.appendGrants(b, order), order)
}

// AppendActor appends the judge's knowledge about one actor to the data of a state hash.
func (j *Judge) AppendActor(b []byte, actor int) []byte {
	s := j.sales[actor]
	if s.Dead() {
		return b
	}
	b = append(b, '|')
	for _, flag := range [...]bool{
		s.lostBeforeUnlock, s.enteredAsHolder, s.lostLock, s.releasedLock, s.unlockTimedOut,
		s.unlocking && j.Driver.Now() > s.unlockStart, s.leftToExpire, j.heldBy[s.Process], s.obstructed && s.TriesOnce,
	} {
		b = strconv.AppendBool(b, flag)
	}
	return b
}
