package bubble

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/explore/bubble/server"
	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/trace"
)

// step is one thing that can happen next.
type step struct {
	token string
	kind  string // for its picture
	actor string // who does it: a process; "" for what happens to all
	do    func() error
}

// tokens are the things that can happen next, in a fixed order.
func (r *Run) tokens() (tokens []string) {
	for _, s := range r.steps() {
		tokens = append(tokens, s.token)
	}
	return tokens
}

// do lets one of them happen.
func (r *Run) do(token string) error {
	all := r.steps()
	i := slices.IndexFunc(all, func(s step) bool { return s.token == token })
	if i < 0 {
		return fmt.Errorf("%w: there are %v", errStale, r.tokens())
	}
	r.taken = append(r.taken, token)
	r.step = trace.Step{Token: token, Actor: all[i].actor, Kind: all[i].kind}
	if err := all[i].do(); err != nil {
		return err
	}
	return r.Settle()
}

func (r *Run) steps() []step {
	lines := r.ofLines()
	return slices.Concat(r.ofActors(), lines, r.ofPushes(), r.ofProcesses(), r.ofNodes(), r.ofTime(len(lines) > 0))
}

// ofActors are the calls that actors make, and their cancellations.
func (r *Run) ofActors() (all []step) {
	can := func(a *Actor, what, kind string, do func()) {
		all = append(all, step{a.Name + ":" + what, kind, a.Process.Name, func() error {
			r.report(a.Process, a.Name+": "+what)
			do()
			return nil
		}})
	}
	begins := map[int]bool{} // an actor of this kind
	for _, a := range r.actors {
		switch now, _ := a.Look(); {
		case a.Process.Paused:
		case now == Idle && begins[a.Kind]:
		case now == Idle || now == Resting:
			for _, call := range r.game.Calls(a) {
				can(a, call.Name, trace.KindWaits, func() { a.Start(call) })
			}
			begins[a.Kind] = begins[a.Kind] || now == Idle
		case now == Calling && a.call.Cancelable && !a.cancelled && r.left[fault.Cancel] > 0:
			can(a, "cancel", trace.KindLeaves, func() {
				r.left[fault.Cancel]--
				a.cancelled = true
				a.cancel()
			})
		}
	}
	return all
}

// ofLines are what can become of the commands that are held. A lock on several nodes asks all of them at once and waits for all: they
// answer a process in their order, as only the order of the processes at each node makes a difference.
func (r *Run) ofLines() (all []step) {
	seen, first := map[string]int{}, map[string]int{}
	for _, l := range r.server.Held() {
		if node, has := first[l.Process]; has && node != l.Node {
			continue
		}
		if !l.Deserted() {
			first[l.Process] = l.Node
		}
		token := l.Process + ":" + l.Name()
		if r.stage.limits.Nodes > 1 {
			token += fmt.Sprintf("@%d", l.Node+1)
		}
		if seen[token]++; seen[token] > 1 {
			token += fmt.Sprintf("#%d", seen[token])
		}
		all = append(all, r.fates(l, token)...)
	}
	return all
}

// fates are what can become of the command that is held on a line.
func (r *Run) fates(l *server.Line, token string) (all []step) {
	can := func(suffix, kind string, costs fault.Fault, do func() error) {
		if costs == fault.None || r.left[costs] > 0 {
			all = append(all, step{token + suffix, kind, l.Process, func() error {
				if costs != fault.None {
					r.left[costs]--
				}
				return do()
			}})
		}
	}
	if l.Deserted() {
		can("/late", trace.KindArrives, fault.Late, func() error { return r.effect(l, l.Lose, "which had closed the connection") })
		return all
	}
	can("", trace.KindCommand, fault.None, func() error { return r.effect(l, l.Answer, "") })
	can("/lost", trace.KindLostReply, fault.LostReply, func() error {
		r.Process(l.Process).Lost = true
		return r.effect(l, l.Lose, "whose connection ends")
	})
	can("/unsent", trace.KindLostRequest, fault.LostRequest, func() error {
		r.report(r.Process(l.Process), r.server.Display(l.Text())+" never arrives; the connection ends")
		r.Process(l.Process).Lost = true
		l.Drop()
		return nil
	})
	return all
}

// effect lets a held command take effect.
func (r *Run) effect(l *server.Line, happen func() ([]byte, error), fate string) error {
	command, by := l.Text(), r.Process(l.Process)
	r.game.Changed(nil)
	reply, err := happen()
	if err != nil {
		return err
	}
	r.game.Changed(by)
	r.record(by, strings.Join([]string{command, strconv.Itoa(l.Node), string(reply), fate}, " "))
	if r.drawn {
		r.step.Command, r.step.Reply = r.server.Display(command), r.server.Display(simredis.FormatReply(reply, 1))
		if r.stage.limits.Nodes > 1 {
			r.step.Command += fmt.Sprintf(" (node %d)", l.Node+1)
		}
	}
	if fate != "" {
		r.addWords(l.Process + ", " + fate + ", does not read it")
	}
	return nil
}

// ofPushes are the pushes that are on their way.
func (r *Run) ofPushes() (all []step) {
	for _, l := range r.server.Pushing() {
		all = append(all, step{l.Process + ":push", trace.KindWoken, l.Process, func() error {
			r.report(r.Process(l.Process), l.Process+" hears what was pushed")
			l.Push()
			return nil
		}})
	}
	return all
}

// ofNodes are what can happen to the nodes.
func (r *Run) ofNodes() (all []step) {
	if r.left[fault.NodeRestart] == 0 {
		return nil
	}
	for node := range r.stage.limits.Nodes {
		if len(r.server.Holds()[node].Keys) > 0 {
			all = append(all, step{fmt.Sprintf("%d:restart", node+1), trace.KindTime, "", func() error {
				r.left[fault.NodeRestart]--
				r.addWords(fmt.Sprintf("node %d restarts empty", node+1))
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
		moved, err := r.Pass()
		r.still = !moved
		return err
	}
	awake := slices.ContainsFunc(r.actors, func(a *Actor) bool {
		return a.Is(Resting) && !a.Process.Paused || a.Is(Idle) && !r.IsAnyPaused()
	})
	switch busy := held || len(r.server.Pushing()) > 0 || awake; {
	case r.all(Done) || r.still:
		return nil
	case !busy:
		return []step{{"time", trace.KindTime, "", pass}}
	case r.left[fault.Slow] > 0:
		return []step{{"slow", trace.KindTime, "", func() error { r.left[fault.Slow]--; return pass() }}}
	}
	return nil
}

func (r *Run) all(s Standing) bool {
	return !slices.ContainsFunc(r.actors, func(a *Actor) bool { return !a.Is(s) })
}

// report notes what happens to a process.
func (r *Run) report(p *Process, says string) {
	r.addWords(says)
	r.record(p, says)
}

// addWords adds to what the step is described by.
func (r *Run) addWords(text string) {
	if !r.drawn {
		return
	}
	if r.step.Says != "" {
		text = r.step.Says + "; " + text
	}
	r.step.Says = text
}
