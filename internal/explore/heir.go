package explore

import (
	"errors"
	"slices"
)

// inherited reports whether those who come in the end get a lock that stays: one of them, and not the other. Some locks know by
// themselves when they expire; so two are let in, with nobody else about and all the time that there is behind them.
func (w *world) inherited() bool {
	later := w.worldOf(Scenario{Actors: 2, Replicas: 1, Try: 2}, 'a') // names that nobody has had
	defer func() {
		later.close()
		for _, wire := range slices.Concat(w.wires...) {
			wire.world = w
		}
		w.trouble = errors.Join(w.trouble, later.trouble)
	}()
	later.now = w.now + forever
	for i, s := range later.servers {
		var err error
		s.health = w.servers[i].health
		if s.holds, err = w.memory.pass(w.servers[i].holds, forever); err != nil {
			later.fail(err)
			return false
		}
	}
	return later.lets(later.actors[0]) && !later.lets(later.actors[1])
}

// lets reports whether a gets the lock by moves of its own.
func (w *world) lets(a *actor) bool {
	for range lastWords {
		options := w.choices()
		i := slices.IndexFunc(options, func(c choice) bool { return c.kind == moves && w.routines[c.id].actor == a })
		if i < 0 || len(a.leases) > 0 {
			break
		}
		w.apply(options[i])
	}
	return len(a.leases) > 0
}
