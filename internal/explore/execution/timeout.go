package execution

import (
	"slices"
	"strconv"
)

// waitsForEver takes down a timer that no time would bring, if a fault may.
func (x *Execution) waitsForEver(task *Task, t *timer) {
	if task != nil && !task.actor.Dead() && x.left.Timeout > 0 {
		t.actor = task.actor
		x.never = append(x.never, t)
	}
}

// itsTimeout returns the first timer of a's that no time would bring, nil if there is none.
func (l *timeline) itsTimeout(a *Actor) *timer {
	i := slices.IndexFunc(l.never, func(t *timer) bool { return t.actor == a })
	if i < 0 {
		return nil
	}
	return l.never[i]
}

// addTimeouts adds that timeouts come.
func (m *menu) addTimeouts() {
	for i, a := range m.actors {
		if !a.Dead() && !a.Paused() && m.itsTimeout(a) != nil {
			m.add(TimesOut, i)
		}
	}
}

// timeOut lets a's timeout come.
func (x *Execution) timeOut(a *Actor) {
	x.note(a.Process, "timeout "+strconv.Itoa(a.inside))
	x.fire(x.itsTimeout(a))
}
