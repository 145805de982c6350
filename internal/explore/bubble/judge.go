package bubble

import (
	"fmt"
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/bubble/server"
	"lockstep/internal/explore/fault"
)

// Patience is how often the same thing happens until it counts as for ever.
const Patience = 20

// GoroutineLeak is the kind of finding that a run ends with goroutines that do not. The package finds it by itself.
const GoroutineLeak = string(anomaly.GoroutineLeak)

// Finding is something that goes wrong.
type Violation struct {
	Kind     string
	Says     string // what happens, in a sentence
	Schedule string // that shows it, as Show takes it
}

// Drive lets all that a process sends take effect, and all that is pushed reach it, until it sends nothing more. It gives how many commands
// that took, and ends when there are Patience of them.
func (r *Run) Drive(p *Process) (commands int, err error) {
	isOwn := func(l *server.ServerConn) bool { return l.Process == p.Name && !l.IsClosedByClient() }
	for commands < Patience {
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

// Busy says that the process of the last step sends command after command, and no time passes; "" if it does not. Only Polling can follow
// it.
func (r *Run) CheckBusy() (says string, err error) {
	i := slices.IndexFunc(r.processes, func(p *Process) bool { return p.Name == r.currentStep.Actor && !p.Crashed && !p.Paused })
	if i < 0 {
		return "", nil
	}
	commands, err := r.Drive(r.processes[i])
	if err != nil || commands < Patience {
		return "", err
	}
	return r.processes[i].Name + " sends command after command, without a pause", nil
}

// Stuck says that an actor's call never comes back, although nothing is on its way and nobody rests; "" if all do, or may yet. Nothing can
// follow it.
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

// Polling says that an actor asks again and again, and never comes back, though everybody has done what he can; "" if all come back. It is
// to be asked when nobody is Idle or Resting. Nothing can follow it.
func (r *Run) CheckPolling() (says string, err error) {
	if r.server.NextExpiry() > 0 { // what is so then is to be asked then
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
			if commands, err := r.Drive(p); err != nil || commands >= Patience { // then it is busy, which is another thing
				return "", err
			}
		}
		if moved, err = r.PassTime(); err != nil {
			return "", err
		}
	}
	return "", nil
}

// IsUnderWay reports whether anything that was sent may still arrive.
func (r *Run) HasMessagesInFlight() bool {
	mayArrive := func(l *server.ServerConn) bool { return !l.IsClosedByClient() || r.remainingFaults[fault.Late] > 0 }
	return slices.ContainsFunc(r.server.HeldConns(), mayArrive) || len(r.server.PushingConns()) > 0
}

// isAnyCalling reports whether a call goes on, or is yet to be followed by another. A goroutine that is left then may be one that the code
// would have ended by itself.
func (r *Run) isAnyCalling() bool {
	return slices.ContainsFunc(r.actors, func(a *Actor) bool { return (a.IsIn(Calling) || a.IsIn(BetweenCalls)) && !a.Process.Paused })
}

// MayArriveLate reports whether something that a process has sent, and has given up, may still take effect.
func (r *Run) MayArriveLate(p *Process) bool {
	isOwn := func(conn *server.ServerConn) bool { return conn.Process == p.Name }
	return r.remainingFaults[fault.Late] > 0 && slices.ContainsFunc(r.server.HeldConns(), isOwn)
}

// Sent is how many commands a process has sent.
func (p *Process) SentCommands() int { return p.sentCommands }

// Repeats reports whether a process has done the same so often that it is taken to go on like that for ever.
func (p *Process) IsRepeating() bool { return p.history.isRepeating }
