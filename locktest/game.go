package locktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"lockstep/internal/explore/bubble"
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

	mu    sync.Mutex
	token int64 // the largest that a holder got
	found []bubble.Finding
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
	if a.Is(bubble.Resting) {
		return []bubble.Call{{Name: "Unlock", Last: true, Do: func(context.Context) error {
			c.unlocks = true
			return c.held.Unlock(context.Background())
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
		held, err := lock(ctx)
		switch {
		case errors.Is(err, errContract):
			g.broken = err
		case err != nil:
			g.fail(err)
		case held == nil:
			err = fmt.Errorf("%w: Lock gives no lock and no error", errContract)
			g.broken = err
		default:
			g.enter(c, held)
		}
		return err
	}}
}

// fail notes that a call of Lock has failed.
func (g *game) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.evidence.failure == nil {
		g.evidence.failure = err
	}
}

// enter notes that a candidate has the lock.
func (g *game) enter(c *candidate, held Held) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.held = held
	if c.Process.Crashed {
		return
	}
	c.obtained, g.evidence.obtained = true, true
	if _, has := held.(interface{ Token() int64 }); has && c.token() <= g.token {
		g.find(TokenOrder, "%s gets the token %d after %d was given", c.Name, c.token(), g.token)
	}
	g.token = max(g.token, c.token())
}

// believes reports whether the candidate may believe that it holds the lock.
func (c *candidate) believes() bool {
	if c.Process.Paused {
		return c.believed
	}
	return c.Is(bubble.Resting) && valid(c.held)
}

func valid(held Held) bool {
	if v, tells := held.(interface{ Valid() bool }); tells && !v.Valid() {
		return false
	}
	c, tells := held.(interface{ Context() context.Context })
	return !tells || c.Context().Err() == nil
}

// token returns a holder's fencing token, 0 if it has none.
func (c *candidate) token() int64 {
	if t, has := c.held.(interface{ Token() int64 }); has {
		return t.Token()
	}
	return 0
}

// find notes what a step has done, whatever the state is then.
func (g *game) find(a Anomaly, format string, values ...any) {
	if !slices.ContainsFunc(g.found, func(known bubble.Finding) bool { return known.Kind == string(a) }) {
		g.found = append(g.found, bubble.Finding{Kind: string(a), Says: fmt.Sprintf(format, values...)})
	}
}

// Seen implements bubble.Game.
func (g *game) Seen() []bubble.Finding { return g.found }

// Effect implements bubble.Game.
func (g *game) Effect(by *bubble.Process) (after func()) {
	before := g.keys()
	g.evidence.sent = true
	return func() {
		g.watch(by.Name, before, g.keys())
		g.evidence.common = cmp.Or(g.evidence.common, g.Server().CommonOwner())
	}
}

// AppendState implements bubble.Game.
func (g *game) AppendState(b []byte) []byte {
	b = strconv.AppendInt(b, g.token, 10)
	for _, c := range g.candidate {
		b = strconv.AppendBool(b, c.believes())
	}
	return b
}

// CanPause implements bubble.Game: a process pauses while it has the lock.
func (g *game) CanPause(p *bubble.Process) bool {
	return slices.ContainsFunc(g.of(p.Actors), (*candidate).believes)
}

// Pause implements bubble.Game.
func (g *game) Pause(p *bubble.Process) {
	for _, c := range g.of(p.Actors) {
		c.believed = c.believes()
	}
}

// End implements bubble.Game: locks are given back to nobody.
func (g *game) End() {
	for _, c := range g.candidate {
		if c.held != nil && !c.unlocks {
			c.Go(func() { _ = c.held.Unlock(context.Background()) }) // it fails: there is no server any more
		}
	}
}

// Describe implements bubble.Game.
func (g *game) Describe(step *trace.Step, moved []*bubble.Actor) (says []string) {
	for _, c := range g.of(moved) {
		switch now, err := c.Look(); {
		case now == bubble.Resting:
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
