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

// step is something that can happen next.
type step struct {
	token string       // notation in schedules: "A:SET/lost"
	kind  string       // one of the constants trace.Kind…, for the drawing
	actor string       // process that takes the step; "": time, or a node
	do    func() error // takes the step
}

// tokens returns the tokens of the steps that can happen next, in a fixed order.
func (r *Run) tokens() (tokens []string) {
	for _, s := range r.steps() {
		tokens = append(tokens, s.token)
	}
	return tokens
}

// takeStep takes the step with this token. It fails with errStale if that step cannot happen.
func (r *Run) takeStep(token string) error {
	all := r.steps()
	i := slices.IndexFunc(all, func(s step) bool { return s.token == token })
	if i < 0 {
		return fmt.Errorf("%w; possible steps: %v", errStale, r.tokens())
	}
	r.takenTokens = append(r.takenTokens, token)
	r.currentStep = trace.Step{Token: token, Actor: all[i].actor, Kind: all[i].kind}
	if err := all[i].do(); err != nil {
		return err
	}
	return r.Settle()
}

// steps returns the steps that can happen next.
func (r *Run) steps() []step {
	lines := r.commandSteps()
	return slices.Concat(r.actorSteps(), lines, r.pushSteps(), r.processSteps(), r.nodeSteps(), r.timeSteps(len(lines) > 0))
}

// actorSteps returns the calls that actors can make, and the cancellations of calls.
func (r *Run) actorSteps() (all []step) {
	add := func(a *Actor, what, kind string, do func()) {
		all = append(all, step{a.Name + ":" + what, kind, a.Process.Name, func() error {
			r.recordStepEvent(a.Process, a.Name+": "+what)
			do()
			return nil
		}})
	}
	// Kinds for which one new actor has been offered: all new actors of a kind are interchangeable.
	hasNewActor := map[int]bool{}
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

// commandSteps returns the possible outcomes of the held commands. If a process has sent commands to several nodes, it returns only those
// to the first of these nodes: a lock on several nodes waits for all replies, so their order makes no difference.
func (r *Run) commandSteps() (all []step) {
	count, firstNode := map[string]int{}, map[string]int{}
	for _, conn := range r.server.HeldConns() {
		if node, ok := firstNode[conn.Process]; ok && node != conn.Node {
			continue
		}
		if !conn.IsClosedByClient() {
			firstNode[conn.Process] = conn.Node
		}
		token := conn.Process + ":" + conn.CommandName()
		if r.explorer.limits.Nodes > 1 {
			token += fmt.Sprintf("@%d", conn.Node+1)
		}
		if count[token]++; count[token] > 1 {
			token += fmt.Sprintf("#%d", count[token])
		}
		all = append(all, r.commandOutcomes(conn, token)...)
	}
	return all
}

// commandOutcomes returns the possible outcomes of the command that is held on a connection.
func (r *Run) commandOutcomes(conn *server.Conn, token string) (all []step) {
	add := func(suffix, kind string, costs fault.Fault, do func() error) {
		if costs == fault.None || r.remainingFaults[costs] > 0 {
			all = append(all, step{token + suffix, kind, conn.Process, func() error {
				if costs != fault.None {
					r.remainingFaults[costs]--
				}
				return do()
			}})
		}
	}
	if conn.IsClosedByClient() {
		add("/late", trace.KindArrives, fault.Late, func() error {
			return r.executeCommand(conn, conn.ExecuteWithoutReply, "which had closed the connection")
		})
		return all
	}
	add("", trace.KindCommand, fault.None, func() error { return r.executeCommand(conn, conn.Answer, "") })
	add("/lost", trace.KindLostReply, fault.LostReply, func() error {
		r.Process(conn.Process).LostMessage = true
		return r.executeCommand(conn, conn.ExecuteWithoutReply, "whose connection ends")
	})
	add("/unsent", trace.KindLostRequest, fault.LostRequest, func() error {
		r.recordStepEvent(r.Process(conn.Process), r.server.Display(conn.CommandText())+" never arrives; the connection ends")
		r.Process(conn.Process).LostMessage = true
		conn.Drop()
		return nil
	})
	return all
}

// executeCommand executes a held command. replyLoss is the reason why the sender does not read the reply; "": the sender reads the reply.
func (r *Run) executeCommand(conn *server.Conn, execute func() ([]byte, error), replyLoss string) error {
	command, sender := conn.CommandText(), r.Process(conn.Process)
	r.game.OnChange(nil)
	reply, err := execute()
	if err != nil {
		return err
	}
	r.game.OnChange(sender)
	r.recordEvent(sender, strings.Join([]string{command, strconv.Itoa(conn.Node), string(reply), replyLoss}, " "))
	if r.isDrawn {
		r.currentStep.Command, r.currentStep.Reply = r.server.Display(command), r.server.Display(simredis.FormatReply(reply, 1))
		if r.explorer.limits.Nodes > 1 {
			r.currentStep.Command += fmt.Sprintf(" (node %d)", conn.Node+1)
		}
	}
	if replyLoss != "" {
		r.addDescription(conn.Process + ", " + replyLoss + ", does not read it")
	}
	return nil
}

// pushSteps returns the possible deliveries of pushes: published messages and invalidations.
func (r *Run) pushSteps() (all []step) {
	for _, conn := range r.server.PushingConns() {
		all = append(all, step{conn.Process + ":push", trace.KindWoken, conn.Process, func() error {
			r.recordStepEvent(r.Process(conn.Process), conn.Process+" hears what was pushed")
			conn.DeliverPushes()
			return nil
		}})
	}
	return all
}

// nodeSteps returns the possible faults of nodes.
func (r *Run) nodeSteps() (all []step) {
	if r.remainingFaults[fault.NodeRestart] == 0 {
		return nil
	}
	for node := range r.explorer.limits.Nodes {
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

// timeSteps returns the step in which time passes, unless nothing would happen in it. The step is free when no process can act; otherwise
// it costs the fault slow.
func (r *Run) timeSteps(hasHeldCommand bool) []step {
	pass := func() (err error) {
		moved, err := r.PassTime()
		r.isQuiescent = !moved
		return err
	}
	mayStart := slices.ContainsFunc(r.actors, func(a *Actor) bool {
		return a.IsIn(BetweenCalls) && !a.Process.Paused || a.IsIn(NotStarted) && !r.IsAnyPaused()
	})
	switch busy := hasHeldCommand || len(r.server.PushingConns()) > 0 || mayStart; {
	case r.areAllIn(Done) || r.isQuiescent:
		return nil
	case !busy:
		return []step{{"time", trace.KindTime, "", pass}}
	case r.remainingFaults[fault.Slow] > 0:
		return []step{{"slow", trace.KindTime, "", func() error { r.remainingFaults[fault.Slow]--; return pass() }}}
	}
	return nil
}

// areAllIn reports whether all actors are in a phase.
func (r *Run) areAllIn(s Phase) bool {
	return !slices.ContainsFunc(r.actors, func(a *Actor) bool { return !a.IsIn(s) })
}

// recordStepEvent records an event in the history of a process and in the description of the step.
func (r *Run) recordStepEvent(p *Process, text string) {
	r.addDescription(text)
	r.recordEvent(p, text)
}

// addDescription appends to the description of the step in progress, if steps are drawn.
func (r *Run) addDescription(text string) {
	if !r.isDrawn {
		return
	}
	if r.currentStep.Says != "" {
		text = r.currentStep.Says + "; " + text
	}
	r.currentStep.Says = text
}
