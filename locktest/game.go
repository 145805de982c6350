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

// errContract means that a lock does not keep to what this package asks of it.
var errContract = errors.New("the lock breaks its contract")

// game is a lock in one run: a bubble.Game.
type game struct {
	*bubble.Run

	config    Config
	open      func(Process) (Lock, error)
	evidence  *evidence
	locks     map[*bubble.Process]Lock
	candidate []*candidate // by the index of its actor
	broken    error        // the contract

	contents []*simredis.State  // of the nodes, as the judge knows them
	found    []bubble.Violation // what steps have shown
	asked    int                // findings that the judge had when it was asked last

	mu    sync.Mutex // guards the judge
	judge *judge.Judge
}

// evidence is what some run has shown: without it, that nothing was found says nothing.
type evidence struct {
	sent     bool  // a command has come to Redis
	failure  error // of the first call of Lock that has failed
	obtained bool  // a call of Lock has succeeded
	locked   bool  // the key was there

	common string // a value that looks like an owner's, with which several processes have taken the lock
}

// vacuous says why nothing is known, "" if something is.
func (e *evidence) vacuous(key string) string {
	switch {
	case !e.obtained && e.failure != nil:
		return fmt.Sprintf("no call of Lock has ever succeeded; the first that failed said: %v", e.failure)
	case !e.sent:
		return "no call of Lock has ever come back, and none has sent a command: is Process.Dial what its client dials with?"
	case !e.obtained:
		return "no call of Lock has ever come back"
	case !e.locked:
		return fmt.Sprintf("nothing has ever written the key %q: is Config.Key that of the lock?", key)
	default:
		return ""
	}
}

// note says what may make what was found untrue, "" if nothing does.
func (e *evidence) note() string {
	if e.common == "" {
		return ""
	}
	return fmt.Sprintf("several processes take the lock with the same value, %q. A package's variable, the process's number and the "+
		"host's name are the same in all processes of a test: let the function that opens a lock make its owner, as of Process.Name", e.common)
}

// candidate is an actor that locks once, and unlocks.
type candidate struct {
	*bubble.Actor

	held     Held
	obtained bool // its Lock succeeded
	unlocks  bool // it has called Unlock
	believed bool // that it held the lock, when its process paused
}

func begin(r *bubble.Run, c Config, open func(Process) (Lock, error), e *evidence) (*game, error) {
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
		if c.Together { // a process of one actor is not like one of several
			kind = i
		}
		if err := g.add(kind, names...); err != nil {
			return g, err
		}
	}
	return g, nil
}

// add adds a process with actors of these names, and opens its lock.
func (g *game) add(kind int, names ...string) error {
	p := g.Add(kind, names...)
	for _, a := range p.Actors {
		g.candidate = append(g.candidate, &candidate{Actor: a})
		g.judge.Add(judge.Actor{Name: a.Name, Process: p.Name, ActorState: a})
	}
	var l Lock
	err := g.Open(p, func() (err error) {
		if l, err = g.open(Process{p.Name, p}); err == nil && l == nil {
			err = errors.New("it is nil")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("the lock of %s cannot be opened: %w", p.Name, err)
	}
	g.locks[p] = l
	return nil
}

// of returns the candidates among actors.
func (g *game) of(actors []*bubble.Actor) (all []*candidate) {
	for _, a := range actors {
		all = append(all, g.candidate[a.Index])
	}
	return all
}

// Calls implements bubble.Game.
func (g *game) Calls(a *bubble.Actor) (calls []bubble.Call) {
	c, l := g.candidate[a.Index], g.locks[a.Process]
	if a.IsIn(bubble.BetweenCalls) {
		return []bubble.Call{{Name: "Unlock", Last: true, Do: func(context.Context) error {
			c.unlocks = true
			g.tell(func() { g.judge.RecordUnlockStart(a.Index) })
			err := c.held.Unlock(context.Background())
			g.tell(func() { g.judge.RecordUnlockEnd(a.Index, true, err) })
			return err
		}}}
	}
	calls = append(calls, g.locking(c, "Lock", l.Lock))
	if try := tryLockOf(l); try != nil {
		calls = append(calls, g.locking(c, "TryLock", try))
	}
	return calls
}

// locking is a call of Lock or TryLock.
func (g *game) locking(c *candidate, name string, lock func(context.Context) (Held, error)) bubble.Call {
	return bubble.Call{Name: name, Cancelable: true, Do: func(ctx context.Context) error {
		g.tell(func() { g.judge.RecordAsk(c.Index, c.Process.Name) })
		held, err := lock(ctx)
		switch {
		case errors.Is(err, errContract):
			g.broken = err
		case err != nil:
			g.tell(func() { g.refuse(ctx, c, err) })
		case held == nil:
			err = fmt.Errorf("%w: Lock gives no lock and no error", errContract)
			g.broken = err
		default:
			g.tell(func() { g.enter(c, held) })
		}
		return err
	}}
}

// tell tells the judge something. Several goroutines may do so.
func (g *game) tell(event func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	event()
}

// refuse tells the judge that a candidate does not get the lock.
func (g *game) refuse(ctx context.Context, c *candidate, err error) {
	if g.evidence.failure == nil {
		g.evidence.failure = err
	}
	g.judge.RecordRefusal(c.Index, err, ctx.Err() != nil)
}

// enter tells the judge that a candidate has the lock.
func (g *game) enter(c *candidate, held Held) {
	c.held = held
	if c.Process.Crashed {
		return
	}
	c.obtained, g.evidence.obtained = true, true
	g.judge.RecordEntry(c.Index, c)
}

// IsLost implements judge.Lease. One that is paused believes what it believed.
func (c *candidate) IsLost() bool {
	if c.Process.Paused {
		return !c.believed
	}
	if v, tells := c.held.(interface{ Valid() bool }); tells && !v.Valid() {
		return true
	}
	h, tells := c.held.(interface{ Context() context.Context })
	return tells && h.Context().Err() != nil
}

// IsOver implements judge.Lease.
func (c *candidate) IsOver() bool { return c.IsLost() }

// Token implements judge.Lease.
func (c *candidate) Token() (token int64, ok bool) {
	t, ok := c.held.(interface{ Token() int64 })
	if ok {
		token = t.Token()
	}
	return token, ok
}

// believes reports whether a candidate may believe that it holds the lock.
func (g *game) believes(c *candidate) bool { return g.judge.Sale(c.Index).IsInCriticalSection() }

// Contents implements judge.Driver.
func (g *game) Contents() []*simredis.State { return g.Server().Contents() }

// Excuses implements judge.Driver. It excuses nothing that is looked for here.
func (*game) Excuses() judge.Excuses { return judge.Excuses{} }

// Changed implements bubble.Game.
func (g *game) OnChange(by *bubble.Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.evidence.sent = g.evidence.sent || by != nil
	for node, now := range g.Contents() {
		if before := g.contents[node]; now != before {
			g.contents[node] = now
			g.judge.RecordChange(judge.Change{Server: node, Before: before, After: now}, g.writer(by, node))
		}
		_, has := now.Key(g.config.Key)
		g.evidence.locked = g.evidence.locked || has
	}
	g.evidence.common = cmp.Or(g.evidence.common, g.Server().SharedOwner())
}

// writer returns the index of the actor that is taken to have changed the lock on a node; -1 for none. A connection tells the process
// alone: it is the actor of it that owns the lock there, or the first that has made a call.
func (g *game) writer(p *bubble.Process, node int) int {
	if p == nil {
		return -1
	}
	if owner := g.judge.Owner(node); owner >= 0 && g.candidate[owner].Process == p {
		return owner
	}
	calls := func(a *bubble.Actor) bool { return a.IsIn(bubble.Calling) }
	return p.Actors[max(slices.IndexFunc(p.Actors, calls), 0)].Index
}

// Seen implements bubble.Game.
func (g *game) Violations() []bubble.Violation {
	g.found = append(g.found, g.news()...)
	return g.found
}

// news returns what the judge has found since it was asked last, as far as it is told here: the first of each anomaly.
func (g *game) news() (found []bubble.Violation) {
	all := g.judge.Detected()
	for _, f := range all[g.asked:] {
		known := func(other bubble.Violation) bool { return other.Kind == string(f.Anomaly) }
		switch f.Anomaly {
		case anomaly.TwoHolders, anomaly.ForeignRelease, anomaly.TokenOrder, anomaly.Unattributed:
			if !slices.ContainsFunc(slices.Concat(g.found, found), known) {
				found = append(found, bubble.Violation{Kind: string(f.Anomaly), Says: f.In(language.English)})
			}
		}
	}
	g.asked = len(all)
	return found
}

// AppendState implements bubble.Game.
func (g *game) AppendState(b []byte) []byte {
	g.OnChange(nil)
	var o judge.ActorOrder
	for i, c := range g.candidate {
		b = strconv.AppendBool(b, g.believes(c))
		o.Actors, o.Labels = append(o.Actors, i), append(o.Labels, byte(i))
	}
	for node := range g.contents {
		b = g.judge.AppendServer(b, node, o)
	}
	return g.judge.AppendOrder(b, o)
}

// CanPause implements bubble.Game: a process pauses while it has the lock.
func (g *game) CanPause(p *bubble.Process) bool {
	return slices.ContainsFunc(g.of(p.Actors), g.believes)
}

// Pause implements bubble.Game.
func (g *game) OnPause(p *bubble.Process) {
	for _, c := range g.of(p.Actors) {
		c.believed = g.believes(c)
	}
}

// End implements bubble.Game: locks are given back to nobody.
func (g *game) Finish() {
	for _, c := range g.candidate {
		if c.held != nil && !c.unlocks {
			c.Go(func() { _ = c.held.Unlock(context.Background()) }) // it fails: there is no server any more
		}
	}
}

// Describe implements bubble.Game.
func (g *game) Describe(step *trace.Step, moved []*bubble.Actor) (says []string) {
	for _, c := range g.of(moved) {
		switch now, err := c.Status(); {
		case now == bubble.BetweenCalls:
			says = append(says, c.Name+" has the lock")
		case now == bubble.Done && err != nil:
			says = append(says, fmt.Sprintf("%s fails: %v", c.Name, err))
		case now == bubble.Done:
			says = append(says, c.Name+" has released the lock")
		}
	}
	name, until := g.owner()
	step.Lock, step.Expires = name, trace.Millis(until)
	for i, p := range g.Processes() {
		if g.CanPause(p) {
			step.Standing[i] = trace.Inside
		}
	}
	return says
}
