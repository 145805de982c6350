package locktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/bubble"
	"lockstep/internal/explore/judge"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/language"
	"lockstep/internal/trace"
)

// errContract is returned for a lock that does not satisfy the contract of Lock or Adapter, such as one that returns nil without an error.
var errContract = errors.New("the lock breaks its contract")

// game is the lock under test in one run of the explorer. It implements bubble.Game, the explorer's interface to the code under test.
type game struct {
	*bubble.Run

	config      Config                      // configuration with defaults filled in
	open        func(Process) (Lock, error) // opens the lock of a process
	evidence    *evidence                   // shared by all runs
	locks       map[*bubble.Process]Lock    // lock of each process
	candidates  []*candidate                // one for each actor, by its index
	contractErr error                       // first breach of the contract, an errContract; nil: none

	contents []*simredis.State  // content of each node, as last reported to the judge
	found    []bubble.Violation // violations found in steps so far
	reported int                // number of the judge's detections that newViolations has taken

	mu    sync.Mutex   // guards the judge
	judge *judge.Judge // judge of this run
}

// evidence collects, over all runs, signs that the lock was really tested. Without them, an empty result proves nothing.
type evidence struct {
	sent     bool  // a command has reached Redis
	failure  error // error of the first call of Lock that failed
	obtained bool  // a call of Lock has succeeded
	locked   bool  // the key has existed

	sharedOwner string // owner value with which several processes have taken the lock; "": none
}

// vacuousReason returns the reason why an empty result proves nothing; "" if it proves something.
func (e *evidence) vacuousReason(key string) string {
	switch {
	case !e.obtained && e.failure != nil:
		return fmt.Sprintf("no call of Lock has ever succeeded; the first error: %v", e.failure)
	case !e.sent:
		return "no call of Lock has ever returned, and none has sent a command: does its client connect by Process.Dial?"
	case !e.obtained:
		return "no call of Lock has ever returned"
	case !e.locked:
		return fmt.Sprintf("nothing has ever written the key %q: is Config.Key the key of the lock?", key)
	default:
		return ""
	}
}

// artifactNote returns a reason why the anomalies found may be artifacts of the test; "" if there is none.
func (e *evidence) artifactNote() string {
	if e.sharedOwner == "" {
		return ""
	}
	return fmt.Sprintf("several processes take the lock with the same value, %q. A package's variable, the process's number and the "+
		"host's name are the same in all processes of a test: let the function that opens a lock derive its owner value from Process.Name",
		e.sharedOwner)
}

// candidate is an actor that calls Lock once, and Unlock if it obtained the lock. It implements judge.Lease.
type candidate struct {
	*bubble.Actor

	held     Held // result of its Lock; nil: none yet
	obtained bool // its Lock succeeded, and its process had not crashed
	unlocked bool // it has called Unlock
	believed bool // it believed that it held the lock when its process paused
}

// newGame creates the processes of a run and opens their locks.
func newGame(r *bubble.Run, c Config, open func(Process) (Lock, error), e *evidence) (*game, error) {
	g := &game{Run: r, config: c, open: open, evidence: e, locks: map[*bubble.Process]Lock{}}
	g.judge = judge.New(judge.Setup{Driver: g, Key: c.Key, TrustFencing: true, Sender: r.Server().Sender})
	g.contents = g.Contents()
	var groups [][]string
	for i := range c.Actors {
		if name := string(rune('A' + i)); !c.Together || i < 2 {
			groups = append(groups, []string{name})
		} else {
			groups[1] = append(groups[1], name)
		}
	}
	for i, names := range groups {
		kind := 0
		if c.Together { // A process with one actor is not interchangeable with one that has several.
			kind = i
		}
		if err := g.add(kind, names...); err != nil {
			return g, err
		}
	}
	return g, nil
}

// add adds a process with actors of these names, and opens its lock. Processes of one kind are interchangeable.
func (g *game) add(kind int, names ...string) error {
	p := g.Add(kind, names...)
	for _, a := range p.Actors {
		g.candidates = append(g.candidates, &candidate{Actor: a})
		g.judge.Add(judge.Actor{Name: a.Name, Process: p.Name, ActorState: a})
	}
	var l Lock
	err := g.Open(p, func() (err error) {
		if l, err = g.open(Process{p.Name, p}); err == nil && l == nil {
			err = errors.New("the function returned nil")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("the lock of %s cannot be opened: %w", p.Name, err)
	}
	g.locks[p] = l
	return nil
}

// candidatesOf returns the candidates of these actors.
func (g *game) candidatesOf(actors []*bubble.Actor) (all []*candidate) {
	for _, a := range actors {
		all = append(all, g.candidates[a.Index])
	}
	return all
}

// Calls returns the calls that an actor can make next, for bubble.Game: Lock or TryLock, and then Unlock.
func (g *game) Calls(a *bubble.Actor) (calls []bubble.Call) {
	c, l := g.candidates[a.Index], g.locks[a.Process]
	if a.IsIn(bubble.BetweenCalls) {
		return []bubble.Call{{Name: "Unlock", Last: true, Do: func(context.Context) error {
			c.unlocked = true
			g.record(func() { g.judge.RecordUnlockStart(a.Index) })
			err := c.held.Unlock(context.Background())
			g.record(func() { g.judge.RecordUnlockEnd(a.Index, true, err) })
			return err
		}}}
	}
	calls = append(calls, g.lockCall(c, "Lock", l.Lock))
	if try := tryLockOf(l); try != nil {
		calls = append(calls, g.lockCall(c, "TryLock", try))
	}
	return calls
}

// lockCall returns the call of Lock or TryLock by a candidate.
func (g *game) lockCall(c *candidate, name string, lock func(context.Context) (Held, error)) bubble.Call {
	return bubble.Call{Name: name, Cancelable: true, Do: func(ctx context.Context) error {
		g.record(func() { g.judge.RecordAsk(c.Index, c.Process.Name) })
		held, err := lock(ctx)
		switch {
		case errors.Is(err, errContract):
			g.contractErr = err
		case err != nil:
			g.record(func() { g.recordRefusal(ctx, c, err) })
		case held == nil:
			err = fmt.Errorf("%w: Lock returns neither a lock nor an error", errContract)
			g.contractErr = err
		default:
			g.record(func() { g.recordEntry(c, held) })
		}
		return err
	}}
}

// record calls event, which reports something to the judge, and holds the mutex of the judge meanwhile.
func (g *game) record(event func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	event()
}

// recordRefusal records that a candidate did not obtain the lock.
func (g *game) recordRefusal(ctx context.Context, c *candidate, err error) {
	if g.evidence.failure == nil {
		g.evidence.failure = err
	}
	g.judge.RecordRefusal(c.Index, err, ctx.Err() != nil)
}

// recordEntry records that a candidate has entered the critical section, unless its process has crashed.
func (g *game) recordEntry(c *candidate, held Held) {
	c.held = held
	if c.Process.Crashed {
		return
	}
	c.obtained = true
	g.evidence.obtained = true
	g.judge.RecordEntry(c.Index, c)
}

// IsLost reports whether the lock has told its holder that it is lost, for judge.Lease. A paused holder keeps the belief that it had when
// it paused.
func (c *candidate) IsLost() bool {
	if c.Process.Paused {
		return !c.believed
	}
	if v, ok := c.held.(interface{ Valid() bool }); ok && !v.Valid() {
		return true
	}
	h, ok := c.held.(interface{ Context() context.Context })
	return ok && h.Context().Err() != nil
}

// IsEnded is the same as IsLost, because a lock under test gives no other reason to stop.
func (c *candidate) IsEnded() bool { return c.IsLost() }

// IgnoredCause returns nil, for judge.Lease: no end of the lock is hidden from its holder.
func (c *candidate) IgnoredCause() error { return nil }

// Token returns the fencing token, for judge.Lease; ok is false if the lock has none.
func (c *candidate) Token() (token int64, ok bool) {
	t, ok := c.held.(interface{ Token() int64 })
	if ok {
		token = t.Token()
	}
	return token, ok
}

// believes reports whether a candidate may believe that it holds the lock.
func (g *game) believes(c *candidate) bool { return g.judge.Sale(c.Index).IsInCriticalSection() }

// Contents returns the contents of each node, for judge.Driver.
func (g *game) Contents() []*simredis.State { return g.Server().Contents() }

// Excuses returns no excuses, for judge.Driver.
func (*game) Excuses() judge.Excuses { return judge.Excuses{} }

// OnChange reports the changes that a process has made on the nodes to the judge, for bubble.Game. If by is nil, no process made them.
func (g *game) OnChange(by *bubble.Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.evidence.sent = g.evidence.sent || by != nil
	for node, now := range g.Contents() {
		if before := g.contents[node]; now != before {
			g.contents[node] = now
			g.judge.RecordChange(judge.Change{Server: node, Before: before, After: now}, g.writer(by, node))
		}
		_, ok := now.Key(g.config.Key)
		g.evidence.locked = g.evidence.locked || ok
	}
	g.evidence.sharedOwner = cmp.Or(g.evidence.sharedOwner, g.Server().SharedOwner())
}

// writer returns the index of the actor to which a change of the lock on a node is attributed; -1 for none. A connection identifies only
// the process. Of the actors of that process, writer takes the one that owns the lock there; otherwise the first one in a call; otherwise
// the first one.
func (g *game) writer(p *bubble.Process, node int) int {
	if p == nil {
		return -1
	}
	if owner := g.judge.Owner(node); owner >= 0 && g.candidates[owner].Process == p {
		return owner
	}
	isCalling := func(a *bubble.Actor) bool { return a.IsIn(bubble.Calling) }
	return p.Actors[max(slices.IndexFunc(p.Actors, isCalling), 0)].Index
}

// Violations returns the violations found in steps so far, for bubble.Game.
func (g *game) Violations() []bubble.Violation {
	g.found = append(g.found, g.newViolations()...)
	return g.found
}

// newViolations returns the judge's new detections of anomalies of this package, in English, without repetitions of an anomaly.
func (g *game) newViolations() (found []bubble.Violation) {
	all := g.judge.Detected()
	for _, f := range all[g.reported:] {
		known := func(other bubble.Violation) bool { return other.Kind == string(f.Anomaly) }
		switch f.Anomaly {
		case anomaly.TwoHolders, anomaly.ForeignRelease, anomaly.TokenOrder, anomaly.Unattributed:
			if !slices.ContainsFunc(slices.Concat(g.found, found), known) {
				found = append(found, bubble.Violation{Kind: string(f.Anomaly), Says: f.In(language.English)})
			}
		}
	}
	g.reported = len(all)
	return found
}

// AppendState appends what the judge knows and what each candidate believes to the data of a state hash, for bubble.Game.
func (g *game) AppendState(b []byte) []byte {
	g.OnChange(nil)
	var order judge.ActorOrder
	for i, c := range g.candidates {
		b = strconv.AppendBool(b, g.believes(c))
		order.Actors, order.Labels = append(order.Actors, i), append(order.Labels, byte(i))
	}
	for node := range g.contents {
		b = g.judge.AppendServer(b, node, order)
	}
	return g.judge.AppendOrder(b, order)
}

// CanPause reports whether a process may pause, for bubble.Game: only if one of its actors believes that it holds the lock.
func (g *game) CanPause(p *bubble.Process) bool {
	return slices.ContainsFunc(g.candidatesOf(p.Actors), g.believes)
}

// OnPause records which candidates of a process believe that they hold the lock, for bubble.Game.
func (g *game) OnPause(p *bubble.Process) {
	for _, c := range g.candidatesOf(p.Actors) {
		c.believed = g.believes(c)
	}
}

// Finish unlocks the locks that are still held, so that their goroutines end, for bubble.Game.
func (g *game) Finish() {
	for _, c := range g.candidates {
		if c.held != nil && !c.unlocked {
			c.Go(func() { _ = c.held.Unlock(context.Background()) }) // The error is expected, because the server is gone.
		}
	}
}

// Describe returns what the step changed for the actors that moved, for bubble.Game. It also completes the step of the diagram.
func (g *game) Describe(step *trace.Step, moved []*bubble.Actor) (says []string) {
	for _, c := range g.candidatesOf(moved) {
		switch now, err := c.Status(); {
		case now == bubble.BetweenCalls:
			says = append(says, c.Name+" has the lock")
		case now == bubble.Done && err != nil:
			says = append(says, fmt.Sprintf("%s fails: %v", c.Name, err))
		case now == bubble.Done:
			says = append(says, c.Name+" has released the lock")
		}
	}
	name, ttl := g.owner()
	step.Lock, step.Expires = name, trace.Millis(ttl)
	for i, p := range g.Processes() {
		if g.CanPause(p) {
			step.Standing[i] = trace.Inside
		}
	}
	return says
}
