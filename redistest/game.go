package redistest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lockstep/internal/explore/bubble"
	"lockstep/internal/trace"
)

// game is a system in one run: a bubble.Game.
type game struct {
	*bubble.Run

	system   System
	kinds    []Kind
	evidence *evidence
	does     []func(context.Context) error // by the index of the actor
	failed   error                         // of a command of Setup, Check or Always
	shown    map[string]bool               // the keys that were there when a step was described last
}

// evidence is what some run has shown: without it, that nothing was found says nothing.
type evidence struct {
	sent, succeeded, ended bool

	failure error // of the first actor that has failed
}

// vacuous says why nothing is known, "" if something is.
func (e *evidence) vacuous() string {
	switch {
	case !e.sent:
		return "no process has ever sent a command: is Process.Dial what its client dials with?"
	case !e.succeeded && e.failure != nil:
		return fmt.Sprintf("no actor has ever succeeded; the first that failed said: %v", e.failure)
	case !e.succeeded:
		return "no actor has ever succeeded"
	case !e.ended:
		return "no schedule has come to its end, so Check was never asked"
	default:
		return ""
	}
}

func begin(r *bubble.Run, s System, kinds []Kind, e *evidence) (*game, error) {
	g := &game{Run: r, system: s, kinds: kinds, evidence: e}
	if s.Setup != nil {
		s.Setup(g.redis())
	}
	for kind, k := range kinds {
		for i := range k.N {
			name := k.Name
			if k.N > 1 || name == "" {
				name += string(rune('A' + i))
			}
			p := r.Add(kind, name)
			var do func(context.Context) error
			err := r.Open(p, func() (err error) {
				if do, err = k.Actor(Process{name, p}); err == nil && do == nil {
					err = errors.New("it does nothing: its function is nil")
				}
				return err
			})
			if err != nil {
				return g, fmt.Errorf("the process %s cannot be opened: %w", name, err)
			}
			g.does = append(g.does, do)
		}
	}
	return g, g.failed
}

func (g *game) redis() Redis {
	return Redis{server: g.Server(), fail: func(err error) { g.failed = errors.Join(g.failed, err) }}
}

// Calls implements bubble.Game.
func (g *game) Calls(a *bubble.Actor) []bubble.Call {
	return []bubble.Call{{Name: "start", Do: g.does[a.Index], Last: true, Cancelable: true}}
}

// Changed implements bubble.Game.
func (g *game) OnChange(by *bubble.Process) { g.evidence.sent = g.evidence.sent || by != nil }

// CanPause implements bubble.Game: nobody has a lock.
func (*game) CanPause(*bubble.Process) bool { return false }

// Pause implements bubble.Game.
func (*game) OnPause(*bubble.Process) {}

// AppendState implements bubble.Game: what is in doubt is.
func (g *game) AppendState(b []byte) []byte {
	for _, actor := range g.actorStates() {
		b = append(append(b, actor.Outcome...), ' ')
	}
	return b
}

// actorStates returns what became of each actor so far.
func (g *game) actorStates() (all []ActorState) {
	for _, a := range g.Actors() {
		t := ActorState{Actor: a.Name, Kind: g.kinds[a.Kind].Name, Outcome: Waiting}
		now, err := a.Status()
		switch t.Err = err; {
		case now != bubble.Done:
		case err == nil:
			t.Outcome = Succeeded
		case a.Process.Crashed || a.Process.LostMessage:
			t.Outcome = InDoubt
		default:
			t.Outcome = Failed
		}
		all = append(all, t)
	}
	return all
}

// Seen implements bubble.Game: only states are judged.
func (*game) Violations() []bubble.Violation { return nil }

// Judge implements bubble.Game.
func (g *game) Judge() (found []bubble.Violation, _ error) {
	e := End{Redis: g.redis(), Actors: g.actorStates()}
	g.evidence.succeeded = g.evidence.succeeded || e.Succeeded() > 0
	if i := slices.IndexFunc(e.Actors, func(a ActorState) bool { return a.Err != nil }); i >= 0 && g.evidence.failure == nil {
		g.evidence.failure = e.Actors[i].Err
	}
	found = append(found, violations(AlwaysFails, g.system.Always, e)...)
	if e.count(Waiting, nil) == 0 && !g.HasMessagesInFlight() {
		g.evidence.ended = true
		found = append(found, violations(CheckFails, g.system.Check, e)...)
	}
	if g.failed != nil {
		return nil, g.failed
	}
	for _, of := range []struct {
		anomaly Anomaly
		says    func() (string, error)
	}{{Stuck, g.stuck}, {Busy, g.CheckBusy}, {Stuck, g.polling}} {
		says, err := of.says()
		if err != nil {
			return nil, err
		}
		if says != "" {
			found = append(found, bubble.Violation{Kind: string(of.anomaly), Says: says})
			break
		}
	}
	return found, nil
}

// stuck says that an actor sends nothing more and never comes back. Somebody who has not begun may yet help it.
func (g *game) stuck() (says string, err error) {
	if g.isAnyIdle() {
		return "", nil
	}
	return g.CheckStuck()
}

// polling says that an actor asks for ever.
func (g *game) polling() (says string, err error) {
	if g.isAnyIdle() {
		return "", nil
	}
	return g.CheckPolling()
}

func (g *game) isAnyIdle() bool {
	return slices.ContainsFunc(g.Actors(), func(a *bubble.Actor) bool { return a.IsIn(bubble.NotStarted) })
}

// violations returns what Check or Always, if it is not nil, says is not true.
func violations(a Anomaly, rule func(End) error, e End) []bubble.Violation {
	if rule == nil {
		return nil
	}
	if err := rule(e); err != nil {
		return []bubble.Violation{{Kind: string(a), Says: err.Error()}}
	}
	return nil
}

// End implements bubble.Game.
func (*game) Finish() {}

// Describe implements bubble.Game: it names the keys that have expired.
func (g *game) Describe(step *trace.Step, moved []*bubble.Actor) (says []string) {
	before := g.shown
	g.shown = map[string]bool{}
	for _, node := range g.Server().Contents() {
		for _, key := range node.Keys {
			g.shown[key.Name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if step.Command == "" && !g.shown[name] {
			says = append(says, g.Server().Display(name)+" expires")
		}
	}
	for _, a := range moved {
		switch now, err := a.Status(); {
		case now != bubble.Done:
		case errors.Is(err, bubble.ErrCrashed):
		case err != nil:
			says = append(says, fmt.Sprintf("%s fails: %v", a.Name, err))
		default:
			says = append(says, a.Name+" succeeds")
		}
	}
	return says
}
