package bubble

import (
	"fmt"
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/bubble/server"
	"lockstep/internal/explore/fault"
)

// EndlessRepetitions is the number of repetitions after which something counts as endless: commands without a pause, or renewals of a lock
// that nobody holds.
const EndlessRepetitions = 20

// GoroutineLeak is the kind of the violation that a goroutine outlives its run. Explorer detects it, so a Game need not.
const GoroutineLeak = string(anomaly.GoroutineLeak)

// Violation is something that went wrong in a schedule.
type Violation struct {
	Kind     string // name of the anomaly, as in the public package
	Says     string // sentence that describes what happens, without a full stop
	Schedule string // schedule that shows it, as Reproduce takes it; set by Search and Reproduce
}

// Drive executes the commands of a process and delivers pushes to the process, until it sends nothing more or EndlessRepetitions commands
// were executed. Drive returns the number of commands executed.
func (r *Run) Drive(p *Process) (commands int, err error) {
	isOwn := func(conn *server.Conn) bool { return conn.Process == p.Name && !conn.IsClosedByClient() }
	for commands < EndlessRepetitions {
		held, pushing := r.server.HeldConns(), r.server.PushingConns()
		if i := slices.IndexFunc(held, isOwn); i >= 0 {
			commands++
			r.game.OnChange(nil)
			if _, err := held[i].Answer(); err != nil {
				return commands, err
			}
			r.game.OnChange(p)
		} else if i := slices.IndexFunc(pushing, isOwn); i >= 0 {
			pushing[i].DeliverPushes()
		} else {
			break
		}
		if err := r.Settle(); err != nil {
			return commands, err
		}
	}
	return commands, nil
}

// CheckBusy returns a description if the process of the last step sends EndlessRepetitions commands without a pause, and "" otherwise. It
// executes these commands, so the run cannot take further steps; CheckPolling may follow.
func (r *Run) CheckBusy() (says string, err error) {
	i := slices.IndexFunc(r.processes, func(p *Process) bool { return p.Name == r.currentStep.Actor && !p.Crashed && !p.Paused })
	if i < 0 {
		return "", nil
	}
	commands, err := r.Drive(r.processes[i])
	if err != nil || commands < EndlessRepetitions {
		return "", err
	}
	return r.processes[i].Name + " sends command after command, without a pause", nil
}

// CheckStuck returns a description if an actor's call never returns although no message is in flight and no actor is between calls, and ""
// otherwise. It lets time pass, so the run cannot take further steps.
func (r *Run) CheckStuck() (says string, err error) {
	var waiting *Actor
	for _, a := range r.actors {
		switch now, _ := a.Status(); {
		case now == BetweenCalls || now == Calling && a.isCancelled:
			return "", nil
		case now == Calling:
			waiting = a
		}
	}
	if waiting == nil || r.IsAnyPaused() || r.HasMessagesInFlight() {
		return "", nil
	}
	if moved, err := r.PassTime(); moved || err != nil {
		return "", err
	}
	return fmt.Sprintf("%s's call of %s does not come back within %v", waiting.Name, waiting.lastCall.Name, Horizon), nil
}

// CheckPolling returns a description if an actor's call polls forever although all other actors have done what they can, and "" otherwise.
// It may only be called while no actor is NotStarted or BetweenCalls. It lets time pass, so the run cannot take further steps.
func (r *Run) CheckPolling() (says string, err error) {
	if r.server.NextExpiry() > 0 { // The search also judges the states after the expiry.
		return "", nil
	}
	start := r.Now()
	for moved := true; moved && !r.IsAnyPaused() && r.Now()-start < Horizon; {
		i := slices.IndexFunc(r.actors, func(a *Actor) bool { return a.IsIn(Calling) })
		if i < 0 {
			return "", nil
		}
		if a := r.actors[i]; a.Process.IsRepeating() && r.server.NextExpiry() == 0 {
			return fmt.Sprintf("%s asks again and again, and its call of %s never comes back", a.Name, a.lastCall.Name), nil
		}
		for _, p := range r.processes {
			if commands, err := r.Drive(p); err != nil || commands >= EndlessRepetitions { // CheckBusy reports such a process.
				return "", err
			}
		}
		if moved, err = r.PassTime(); err != nil {
			return "", err
		}
	}
	return "", nil
}

// HasMessagesInFlight reports whether a command or a push that was sent may still arrive. A command whose connection the client has closed
// may arrive only if the fault late may still happen.
func (r *Run) HasMessagesInFlight() bool {
	mayArrive := func(conn *server.Conn) bool {
		return !conn.IsClosedByClient() || r.remainingFaults[fault.Late] > 0
	}
	return slices.ContainsFunc(r.server.HeldConns(), mayArrive) || len(r.server.PushingConns()) > 0
}

// isAnyCalling reports whether an actor is in a call or between two calls, and its process is not paused. If so, the code may still end its
// goroutines, so a goroutine that remains is not a leak.
func (r *Run) isAnyCalling() bool {
	return slices.ContainsFunc(r.actors, func(a *Actor) bool { return (a.IsIn(Calling) || a.IsIn(BetweenCalls)) && !a.Process.Paused })
}

// MayArriveLate reports whether a command of a process may still take effect after its client has closed the connection.
func (r *Run) MayArriveLate(p *Process) bool {
	isOwn := func(conn *server.Conn) bool { return conn.Process == p.Name }
	return r.remainingFaults[fault.Late] > 0 && slices.ContainsFunc(r.server.HeldConns(), isOwn)
}

// SentCommands returns the number of commands that the process has sent.
func (p *Process) SentCommands() int { return p.sentCommands }

// IsRepeating reports whether the process has repeated its last events so often that it is assumed to do so forever.
func (p *Process) IsRepeating() bool { return p.history.isRepeating }
