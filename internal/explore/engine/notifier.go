package engine

import (
	"fmt"
	"slices"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// subscriptions are what processes listen to. A published message arrives when the schedule says so, or, as a fault, never.
type subscriptions struct{ listeners []*listener }

// listener is a process's subscription to a channel.
type listener struct {
	actor    *Actor
	channel  string
	notify   []*func(message string) // all who listen there, in the order in which they came
	messages []string                // published, and not told yet
}

// listener gives a process's subscription to a channel, and makes it if there is none.
func (s *subscriptions) listener(p *Process, channel string, a *Actor) *listener {
	i := slices.IndexFunc(s.listeners, func(l *listener) bool { return l.actor.Process == p && l.channel == channel })
	if i < 0 {
		i = len(s.listeners)
		s.listeners = append(s.listeners, &listener{channel: channel})
	}
	s.listeners[i].actor = a
	return s.listeners[i]
}

// publish makes messages due.
func (s *subscriptions) publish(messages []simredis.Message) {
	for _, m := range messages {
		for _, l := range s.listeners {
			if l.channel == m.Channel {
				l.messages = append(l.messages, m.Text)
			}
		}
	}
}

// due returns the first listener of a process that a message is due for, nil if there is none.
func (s *subscriptions) due(p *Process) *listener {
	for _, l := range s.listeners {
		if l.actor.Process == p && len(l.notify) > 0 && len(l.messages) > 0 {
			return l
		}
	}
	return nil
}

// take takes the message that is told next.
func (l *listener) take() string {
	m := l.messages[0]
	l.messages = l.messages[1:]
	return m
}

// notify delivers the message that is due for p.
func (x *machine) notify(p *Process) {
	l := x.due(p)
	m := l.take()
	x.note(p, "ring "+l.channel+" "+m)
	x.tell(l, m)
}

// tell tells a message to all who listen, one after the other.
func (x *machine) tell(l *listener, message string) {
	all := slices.Clone(l.notify)
	t := x.spawn(l.actor, "listener", func() {
		for _, notify := range all {
			(*notify)(message)
		}
	})
	t.notified = true
}

// virtualNotifier is the lock.Notifier of one process.
type virtualNotifier struct {
	x       *Execution
	process *Process
}

// Notifier returns the notifier of a process.
func (x *Execution) Notifier(p *Process) lock.Notifier { return virtualNotifier{x, p} }

// Subscribe implements lock.Notifier. As with the real one, the subscription stays when nobody listens any more; so a message for an
// earlier listener may reach the next one. After a reply it is a step of its own: what the reply said may no longer be so.
func (n virtualNotifier) Subscribe(channel string, notify func(message string)) (stop func()) {
	t := n.x.running("Notifier.Subscribe")
	if err := simredis.Listens(channel); err != nil {
		n.x.Fail(fmt.Errorf("%w%s", err, line()))
	}
	n.x.jot("Notifier.Subscribe " + channel)
	if t == nil || n.process.dead || n.process.told == len(n.x.taken) && n.x.untilSubscribed(t) != nil {
		return func() {}
	}
	l := n.x.listener(n.process, channel, t.actor)
	l.notify = append(l.notify, &notify)
	return func() { l.notify = slices.DeleteFunc(l.notify, func(n *func(string)) bool { return n == &notify }) }
}

// untilSubscribed waits until the schedule lets t subscribe.
func (x *machine) untilSubscribed(t *Task) error {
	t.subscribes = true
	x.locate(t)
	err := park(t)
	t.subscribes = false
	if err == nil {
		x.note(t.actor.Process, "subscribe "+t.label)
	}
	return err
}
