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

// game is the system under test in one run of the explorer. It implements bubble.Game, the explorer's interface to the code under test.
type game struct {
	*bubble.Run

	system     System                        // system under test
	kinds      []Kind                        // kinds of actors, with defaults filled in
	evidence   *evidence                     // shared by all runs
	actorFuncs []func(context.Context) error // function of each actor, by its index
	redisErr   error                         // joined errors of the commands of Setup, Check and Always; nil: none
	knownKeys  map[string]bool               // names of the keys that existed when Describe was last called
}

// evidence collects, over all runs, signs that the system was really tested. Without them, an empty result proves nothing.
type evidence struct {
	sent      bool // a command has reached Redis
	succeeded bool // an actor has succeeded
	ended     bool // a schedule has reached its end

	failure error // error of the first actor that failed
}

// vacuousReason returns the reason why an empty result proves nothing; "" if it proves something.
func (e *evidence) vacuousReason() string {
	switch {
	case !e.sent:
		return "no process has ever sent a command: does its client connect by Process.Dial?"
	case !e.succeeded && e.failure != nil:
		return fmt.Sprintf("no actor has ever succeeded; the first error: %v", e.failure)
	case !e.succeeded:
		return "no actor has ever succeeded"
	case !e.ended:
		return "no schedule has reached its end, so Check was never called"
	default:
		return ""
	}
}

// newGame calls Setup to fill Redis, and opens the processes of a run.
func newGame(r *bubble.Run, s System, kinds []Kind, e *evidence) (*game, error) {
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
					err = errors.New("System.Actor returned a nil function")
				}
				return err
			})
			if err != nil {
				return g, fmt.Errorf("the process %s cannot be opened: %w", name, err)
			}
			g.actorFuncs = append(g.actorFuncs, do)
		}
	}
	return g, g.redisErr
}

// redis returns direct access to the first node, for Setup, Check and Always.
func (g *game) redis() Redis {
	return Redis{server: g.Server(), fail: func(err error) { g.redisErr = errors.Join(g.redisErr, err) }}
}

// Calls returns the only call of an actor, for bubble.Game.
func (g *game) Calls(a *bubble.Actor) []bubble.Call {
	return []bubble.Call{{Name: "start", Do: g.actorFuncs[a.Index], Last: true, Cancelable: true}}
}

// OnChange records that a command has reached Redis, for bubble.Game. If by is nil, no process sent a command.
func (g *game) OnChange(by *bubble.Process) { g.evidence.sent = g.evidence.sent || by != nil }

// CanPause returns false, for bubble.Game: only holders of a lock pause.
func (*game) CanPause(*bubble.Process) bool { return false }

// OnPause does nothing, for bubble.Game.
func (*game) OnPause(*bubble.Process) {}

// AppendState appends the outcome of each actor to the data of a state hash, for bubble.Game.
func (g *game) AppendState(b []byte) []byte {
	for _, actor := range g.actorStates() {
		b = append(append(b, actor.Outcome...), ' ')
	}
	return b
}

// actorStates returns the current state of each actor.
func (g *game) actorStates() (all []ActorState) {
	for _, a := range g.Actors() {
		state := ActorState{Actor: a.Name, Kind: g.kinds[a.Kind].Name, Outcome: Waiting}
		now, err := a.Status()
		state.Err = err
		switch {
		case now != bubble.Done:
		case err == nil:
			state.Outcome = Succeeded
		case a.Process.Crashed || a.Process.LostMessage:
			state.Outcome = InDoubt
		default:
			state.Outcome = Failed
		}
		all = append(all, state)
	}
	return all
}

// Violations returns nil, for bubble.Game: no step is a violation by itself, because Judge checks the states.
func (*game) Violations() []bubble.Violation { return nil }

// Judge returns the anomalies of the current state, for bubble.Game. It may let time pass.
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
	if g.redisErr != nil {
		return nil, g.redisErr
	}
	for _, check := range []struct {
		anomaly Anomaly
		find    func() (string, error)
	}{{Stuck, g.findStuck}, {Busy, g.CheckBusy}, {Stuck, g.findPolling}} {
		says, err := check.find()
		if err != nil {
			return nil, err
		}
		if says != "" {
			found = append(found, bubble.Violation{Kind: string(check.anomaly), Says: says})
			break
		}
	}
	return found, nil
}

// findStuck describes an actor that sends nothing more and never returns; "" if there is no such actor. It does not look before every actor
// has started, because one that starts later may help the others.
func (g *game) findStuck() (says string, err error) {
	if g.hasUnstartedActor() {
		return "", nil
	}
	return g.CheckStuck()
}

// findPolling describes an actor that polls forever; "" if there is no such actor. It does not look before every actor has started.
func (g *game) findPolling() (says string, err error) {
	if g.hasUnstartedActor() {
		return "", nil
	}
	return g.CheckPolling()
}

// hasUnstartedActor reports whether an actor has not started.
func (g *game) hasUnstartedActor() bool {
	return slices.ContainsFunc(g.Actors(), func(a *bubble.Actor) bool { return a.IsIn(bubble.NotStarted) })
}

// violations calls rule, which is Check or Always and may be nil, and returns its error as a violation.
func violations(a Anomaly, rule func(End) error, e End) []bubble.Violation {
	if rule == nil {
		return nil
	}
	if err := rule(e); err != nil {
		return []bubble.Violation{{Kind: string(a), Says: err.Error()}}
	}
	return nil
}

// Finish does nothing, for bubble.Game.
func (*game) Finish() {}

// Describe returns which keys expired in the step, and how the actors that moved have ended, for bubble.Game.
func (g *game) Describe(step *trace.Step, moved []*bubble.Actor) (says []string) {
	before := g.knownKeys
	g.knownKeys = map[string]bool{}
	for _, node := range g.Server().Contents() {
		for _, key := range node.Keys {
			g.knownKeys[key.Name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if step.Command == "" && !g.knownKeys[name] {
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
