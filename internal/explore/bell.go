package explore

import "slices"

// virtualBell is the lock.Bell of one replica. What is published rings when the scheduler likes, or, as a fault, never.
type virtualBell struct {
	w       *world
	replica *replica
}

// listener is who is rung for a channel.
type listener struct {
	actor   *actor
	channel string
	ring    func()
	due     bool // something was published, and it was not told yet
}

// Listen implements lock.Bell.
func (b virtualBell) Listen(channel string, ring func()) (stop func()) {
	r := b.w.running("Bell.Listen")
	if r == nil || b.replica.dead {
		return func() {}
	}
	l := &listener{actor: r.actor, channel: channel, ring: ring}
	b.w.listeners = append(b.w.listeners, l)
	return func() {
		b.w.listeners = slices.DeleteFunc(b.w.listeners, func(other *listener) bool { return other == l })
	}
}

// publish makes rings due.
func (w *world) publish(channels []string) {
	for _, l := range w.listeners {
		l.due = l.due || slices.Contains(channels, l.channel)
	}
}

// rung is who of a process is to be rung first, if somebody is.
func (w *world) rung(p *replica) *listener {
	for _, l := range w.listeners {
		if l.actor.replica == p && l.due {
			return l
		}
	}
	return nil
}

// rings delivers a hint.
func (w *world) rings(p *replica) {
	l := w.rung(p)
	l.due = false
	w.note(p, "ring %s", l.channel)
	w.spawn(l.actor, l.ring)
}
