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
func (r *Run) takeStep(token string) error {
	all := r.steps()
	i := slices.IndexFunc(all, func(s step) bool { return s.token == token })
	if i < 0 {
		return fmt.Errorf("%w: there are %v", errStale, r.tokens())
	}
	r.takenTokens = append(r.takenTokens, token)
	r.currentStep = trace.Step{Token: token, Actor: all[i].actor, Kind: all[i].kind}
	if err := all[i].do(); err != nil {
		return err
	}
	return r.Settle()
}

func (r *Run) steps() []step {
	lines := r.commandSteps()
	return slices.Concat(r.actorSteps(), lines, r.pushSteps(), r.processSteps(), r.nodeSteps(), r.timeSteps(len(lines) > 0))
}

// ofActors are the calls that actors make, and their cancellations.
func (r *Run) actorSteps() (all []step) {
	add := func(a *Actor, what, kind string, do func()) {
		all = append(all, step{a.Name + ":" + what, kind, a.Process.Name, func() error {
			r.recordStepEvent(a.Process, a.Name+": "+what)
			do()
			return nil
		}})
	}
	hasNewActor := map[int]bool{} // an actor of this kind
	for _, a := range r.actors {
		switch now, _ := a.Status(); {
		case a.Process.Paused:
		case now == NotStarted && hasNewActor[a.Kind]:
		case now == NotStarted || now == BetweenCalls:
			for _, call := range r.game.Calls(a) {
				add(a, call.Name, trace.KindWaits, func() { a.Start(call) })
			}
			hasNewActor[a.Kind] = hasNewActor[a.Kind] || now == NotStarted
		case now == Calling && a.lastCall.Cancelable && !a.isCancelled && r.remainingFaults[fault.Cancel] > 0:
			add(a, "cancel", trace.KindLeaves, func() {
				r.remainingFaults[fault.Cancel]--
				a.isCancelled = true
				a.cancel()
			})
		}
	}
	return all
}

// ofLines are what can become of the commands that are held. A lock on several nodes asks all of them at once and waits for all: they
// answer a process in their order, as only the order of the processes at each node makes a difference.
func (r *Run) commandSteps() (all []step) {
	count, firstNode := map[string]int{}, map[string]int{}
	for _, l := range r.server.HeldConns() {
		if node, ok := firstNode[l.Process]; ok && node != l.Node {
			continue
		}
		if !l.IsClosedByClient() {
			firstNode[l.Process] = l.Node
		}
		token := l.Process + ":" + l.CommandName()
		if r.stage.limits.Nodes > 1 {
			token += fmt.Sprintf("@%d", l.Node+1)
		}
		if count[token]++; count[token] > 1 {
			token += fmt.Sprintf("#%d", count[token])
		}
		all = append(all, r.commandOutcomes(l, token)...)
	}
	return all
}

// fates are what can become of the command that is held on a line.
func (r *Run) commandOutcomes(l *server.ServerConn, token string) (all []step) {
	add := func(suffix, kind string, costs fault.Fault, do func() error) {
		if costs == fault.None || r.remainingFaults[costs] > 0 {
			all = append(all, step{token + suffix, kind, l.Process, func() error {
				if costs != fault.None {
					r.remainingFaults[costs]--
				}
				return do()
			}})
		}
	}
	if l.IsClosedByClient() {
		add("/late", trace.KindArrives, fault.Late, func() error {
			return r.executeCommand(l, l.ExecuteWithoutReply, "which had closed the connection")
		})
		return all
	}
	add("", trace.KindCommand, fault.None, func() error { return r.executeCommand(l, l.Answer, "") })
	add("/lost", trace.KindLostReply, fault.LostReply, func() error {
		r.Process(l.Process).LostMessage = true
		return r.executeCommand(l, l.ExecuteWithoutReply, "whose connection ends")
	})
	add("/unsent", trace.KindLostRequest, fault.LostRequest, func() error {
		r.recordStepEvent(r.Process(l.Process), r.server.Display(l.CommandText())+" never arrives; the connection ends")
		r.Process(l.Process).LostMessage = true
		l.Drop()
		return nil
	})
	return all
}

// effect lets a held command take effect.
func (r *Run) executeCommand(l *server.ServerConn, execute func() ([]byte, error), replyLoss string) error {
	command, sender := l.CommandText(), r.Process(l.Process)
	r.game.OnChange(nil)
	reply, err := execute()
	if err != nil {
		return err
	}
	r.game.OnChange(sender)
	r.recordEvent(sender, strings.Join([]string{command, strconv.Itoa(l.Node), string(reply), replyLoss}, " "))
	if r.isDrawn {
		r.currentStep.Command, r.currentStep.Reply = r.server.Display(command), r.server.Display(simredis.FormatReply(reply, 1))
		if r.stage.limits.Nodes > 1 {
			r.currentStep.Command += fmt.Sprintf(" (node %d)", l.Node+1)
		}
	}
	if replyLoss != "" {
		r.addDescription(l.Process + ", " + replyLoss + ", does not read it")
	}
	return nil
}

// ofPushes are the pushes that are on their way.
func (r *Run) pushSteps() (all []step) {
	for _, l := range r.server.PushingConns() {
		all = append(all, step{l.Process + ":push", trace.KindWoken, l.Process, func() error {
			r.recordStepEvent(r.Process(l.Process), l.Process+" hears what was pushed")
			l.DeliverPushes()
			return nil
		}})
	}
	return all
}

// ofNodes are what can happen to the nodes.
func (r *Run) nodeSteps() (all []step) {
	if r.remainingFaults[fault.NodeRestart] == 0 {
		return nil
	}
	for node := range r.stage.limits.Nodes {
		if len(r.server.Contents()[node].Keys) > 0 {
			all = append(all, step{fmt.Sprintf("%d:restart", node+1), trace.KindTime, "", func() error {
				r.remainingFaults[fault.NodeRestart]--
				r.addDescription(fmt.Sprintf("node %d restarts empty", node+1))
				r.server.RestartEmpty(node)
				return nil
			}})
		}
	}
	return all
}

// ofTime is time. It passes by itself when nothing else can happen; while somebody could still move, that is a fault.
func (r *Run) timeSteps(hasHeldCommand bool) []step {
	pass := func() (err error) {
		moved, err := r.PassTime()
		r.isStill = !moved
		return err
	}
	mayStart := slices.ContainsFunc(r.actors, func(a *Actor) bool {
		return a.IsIn(BetweenCalls) && !a.Process.Paused || a.IsIn(NotStarted) && !r.IsAnyPaused()
	})
	switch busy := hasHeldCommand || len(r.server.PushingConns()) > 0 || mayStart; {
	case r.areAllIn(Done) || r.isStill:
		return nil
	case !busy:
		return []step{{"time", trace.KindTime, "", pass}}
	case r.remainingFaults[fault.Slow] > 0:
		return []step{{"slow", trace.KindTime, "", func() error { r.remainingFaults[fault.Slow]--; return pass() }}}
	}
	return nil
}

func (r *Run) areAllIn(s Phase) bool {
	return !slices.ContainsFunc(r.actors, func(a *Actor) bool { return !a.IsIn(s) })
}

// report notes what happens to a process.
func (r *Run) recordStepEvent(p *Process, says string) {
	r.addDescription(says)
	r.recordEvent(p, says)
}

// addWords adds to what the step is described by.
func (r *Run) addDescription(text string) {
	if !r.isDrawn {
		return
	}
	if r.currentStep.Says != "" {
		text = r.currentStep.Says + "; " + text
	}
	r.currentStep.Says = text
}
