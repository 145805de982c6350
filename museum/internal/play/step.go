package play

import (
	"fmt"
	"slices"

	"lockstep/museum/internal/server"
)

// step is one thing that can happen next.
type step struct {
	token string
	do    func() error
}

// Steps are the things that can happen next, in a fixed order.
func (r *Run) Steps() (tokens []string) {
	for _, s := range r.steps() {
		tokens = append(tokens, s.token)
	}
	return tokens
}

// Do lets one of them happen.
func (r *Run) Do(token string) error {
	for _, s := range r.steps() {
		if s.token == token {
			r.events = nil
			if err := s.do(); err != nil {
				return err
			}
			return r.settle()
		}
	}
	return fmt.Errorf("%w: there are %v", ErrStale, r.Steps())
}

func (r *Run) steps() []step {
	lines := r.ofLines()
	return slices.Concat(r.ofActors(), lines, r.ofPushes(), r.ofNodes(), r.ofTime(len(lines) > 0))
}

// ofActors are the calls that actors make, and their cancellations. Actors begin in the order of their names: they are alike.
func (r *Run) ofActors() (all []step) {
	begun := true
	for _, a := range r.actors {
		switch now, _ := a.look(); {
		case now == idle && begun:
			all = append(all, step{a.name + ":Lock", func() error { r.tell(a, "calls Lock"); a.lock(); return nil }})
			begun = false
		case now == locking && !a.cancelled && r.left[Cancel] > 0:
			all = append(all, step{a.name + ":cancel", func() error {
				r.left[Cancel]--
				a.cancelled = true
				r.tell(a, "is cancelled")
				a.cancel()
				return nil
			}})
		case now == inside:
			all = append(all, step{a.name + ":Unlock", func() error { r.tell(a, "calls Unlock"); a.unlock(); return nil }})
		}
	}
	return all
}

// ofLines are what can become of the commands that are held.
func (r *Run) ofLines() (all []step) {
	seen := map[string]int{}
	for _, l := range r.server.Held() {
		token := l.Process + ":" + l.Name()
		if r.library.Nodes > 1 {
			token += fmt.Sprintf("@%d", l.Node+1)
		}
		if seen[token]++; seen[token] > 1 {
			token += fmt.Sprintf("#%d", seen[token])
		}
		if l.Deserted() {
			if r.left[Late] > 0 {
				all = append(all, step{token + "/late", func() error { r.left[Late]--; return r.effect(l, l.Lose, "too late") }})
			}
			continue
		}
		all = append(all, step{token, func() error { return r.effect(l, l.Answer, "") }})
		if r.left[LostReply] > 0 {
			all = append(all, step{token + "/lost", func() error { r.left[LostReply]--; return r.effect(l, l.Lose, "lost") }})
		}
		if r.left[LostRequest] > 0 {
			all = append(all, step{token + "/unsent", func() error { r.left[LostRequest]--; r.drop(l); return nil }})
		}
	}
	return all
}

// effect lets a held command take effect.
func (r *Run) effect(l *server.Line, by func() ([]byte, error), fate string) error {
	command, before := l.Text(), r.server.Holds()
	reply, err := by()
	if err != nil {
		return err
	}
	r.watch(l.Process, before, r.server.Holds())
	text := server.Describe(reply)
	r.events = append(r.events, Event{Process: l.Process, Command: command, Reply: text, Says: fate})
	r.process(l.Process).happened(r.now(), fmt.Sprintf("%s → %s %s", command, text, fate))
	return nil
}

func (r *Run) drop(l *server.Line) {
	command := l.Text()
	r.events = append(r.events, Event{Process: l.Process, Command: command, Says: "unsent"})
	r.process(l.Process).happened(r.now(), command+" unsent")
	l.Drop()
}

// ofPushes are the pushes that are on their way.
func (r *Run) ofPushes() (all []step) {
	for _, l := range r.server.Pushing() {
		all = append(all, step{l.Process + ":push", func() error {
			r.events = append(r.events, Event{Process: l.Process, Says: "is told that the key has changed"})
			r.process(l.Process).happened(r.now(), "push")
			l.Push()
			return nil
		}})
	}
	return all
}

// ofNodes are what can happen to the nodes.
func (r *Run) ofNodes() (all []step) {
	if r.left[NodeRestart] == 0 {
		return nil
	}
	for node := range r.library.Nodes {
		if len(r.server.Holds()[node].Keys) > 0 {
			all = append(all, step{fmt.Sprintf("%d:restart", node+1), func() error {
				r.left[NodeRestart]--
				r.events = append(r.events, Event{Says: fmt.Sprintf("node %d restarts empty", node+1)})
				r.server.Forget(node)
				return nil
			}})
		}
	}
	return all
}

// ofTime is time. It passes by itself when nothing else can happen; while somebody could still move, that is a fault.
func (r *Run) ofTime(held bool) []step {
	pass := func() (err error) {
		moved, err := r.pass()
		r.still = !moved
		return err
	}
	switch busy := held || len(r.server.Pushing()) > 0 || r.anybody(idle) || r.anybody(inside); {
	case r.all(done) || r.still:
		return nil
	case !busy:
		return []step{{"time", pass}}
	case r.left[Slow] > 0:
		return []step{{"slow", func() error { r.left[Slow]--; return pass() }}}
	}
	return nil
}

func (r *Run) anybody(s state) bool {
	return slices.ContainsFunc(r.actors, func(a *actor) bool { return a.is(s) })
}

func (r *Run) all(s state) bool {
	return !slices.ContainsFunc(r.actors, func(a *actor) bool { return !a.is(s) })
}

func (r *Run) process(name string) *process {
	return r.processes[slices.IndexFunc(r.processes, func(p *process) bool { return p.name == name })]
}

// tell takes down what befalls an actor.
func (r *Run) tell(a *actor, says string) {
	r.events = append(r.events, Event{Process: a.process.name, Says: a.name + " " + says})
	a.process.happened(r.now(), a.name+" "+says)
}
