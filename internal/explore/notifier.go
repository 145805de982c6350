package explore

import "slices"

// virtualNotifier is the lock.Notifier of one replica. What is published rings when the scheduler likes, or, as a fault, never.
type virtualNotifier struct {
	w       *world
	replica *replica
}

// listener is a replica's subscription to a channel, and who is rung for it.
type listener struct {
	actor    *actor
	channel  string
	ring     func(message string) // nil while nobody listens
	messages []string             // published, and not told yet
}

// message is what was published to a channel.
type message struct{ channel, text string }

// Subscribe implements lock.Notifier. As with the real one the subscription stays when nobody listens any more, and so may what was
// published to who listened before be told to the next one.
func (b virtualNotifier) Subscribe(channel string, ring func(message string)) (stop func()) {
	r := b.w.running("Notifier.Subscribe")
	if r == nil || b.replica.dead {
		return func() {}
	}
	i := slices.IndexFunc(b.w.listeners, func(l *listener) bool { return l.actor.replica == b.replica && l.channel == channel })
	if i < 0 {
		i = len(b.w.listeners)
		b.w.listeners = append(b.w.listeners, &listener{channel: channel})
	}
	l := b.w.listeners[i]
	l.actor, l.ring = r.actor, ring
	return func() { l.ring = nil }
}

// publish makes rings due.
func (w *world) publish(messages []message) {
	for _, m := range messages {
		for _, l := range w.listeners {
			if l.channel == m.channel {
				l.messages = append(l.messages, m.text)
			}
		}
	}
}

// rung is who of a process is to be rung first, if somebody is.
func (w *world) rung(p *replica) *listener {
	for _, l := range w.listeners {
		if l.actor.replica == p && l.ring != nil && len(l.messages) > 0 {
			return l
		}
	}
	return nil
}

// next takes the message that is told next.
func (l *listener) next() string {
	m := l.messages[0]
	l.messages = l.messages[1:]
	return m
}

// rings delivers a message.
func (w *world) rings(p *replica) {
	l := w.rung(p)
	m := l.next()
	w.note(p, "ring %s %s", l.channel, m)
	w.spawn(l.actor, func() { l.ring(m) })
}
