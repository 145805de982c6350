package engine

import (
	"fmt"
	"slices"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// listener is a process's subscription to a channel.
type listener struct {
	actor    *Actor                  // actor that subscribed last
	channel  string                  // name of the channel
	notify   []*func(message string) // callbacks of all subscribers, in the order in which they subscribed
	messages []string                // published messages that have not been delivered
}

// listener returns a process's subscription to a channel, and creates it if there is none.
func (p *Process) listener(channel string, a *Actor) *listener {
	x := p.x
	i := slices.IndexFunc(x.listeners, func(l *listener) bool { return l.actor.Process == p && l.channel == channel })
	if i < 0 {
		i = len(x.listeners)
		x.listeners = append(x.listeners, &listener{channel: channel})
	}
	x.listeners[i].actor = a
	return x.listeners[i]
}

// publish appends messages to the listeners of their channels.
func publish(messages []simredis.Message, listeners []*listener) {
	for _, m := range messages {
		for _, l := range listeners {
			if l.channel == m.Channel {
				l.messages = append(l.messages, m.Text)
			}
		}
	}
}

// listenerWithMessage returns the first listener of a process that has a message; nil if there is none.
func (p *Process) listenerWithMessage() *listener {
	for _, l := range p.x.listeners {
		if l.actor.Process == p && len(l.notify) > 0 && len(l.messages) > 0 {
			return l
		}
	}
	return nil
}

// takeMessage removes and returns the oldest message.
func (l *listener) takeMessage() string {
	m := l.messages[0]
	l.messages = l.messages[1:]
	return m
}

// deliverMessage delivers the oldest message for p.
func (p *Process) deliverMessage() {
	l := p.listenerWithMessage()
	m := l.takeMessage()
	p.recordEvent("ring " + l.channel + " " + m)
	l.deliver(m)
}

// deliver starts a task that passes a message to all subscribers, one after the other.
func (l *listener) deliver(message string) {
	all := slices.Clone(l.notify)
	t := l.actor.spawn("listener", func() {
		for _, notify := range all {
			(*notify)(message)
		}
	})
	t.startedByMessage = true
}

// virtualNotifier is the lock.Notifier of one process.
type virtualNotifier struct{ process *Process }

// Notifier returns the notifier of a process.
func (p *Process) Notifier() lock.Notifier { return virtualNotifier{p} }

// Subscribe implements lock.Notifier. As with the real notifier, the subscription stays when the last subscriber stops, so a message for
// an earlier subscriber may reach the next one. A subscription that follows a reply is a step of its own, as the state that the reply
// described may have changed by then.
func (n virtualNotifier) Subscribe(channel string, notify func(message string)) (stop func()) {
	t := n.process.x.callingTask("Notifier.Subscribe")
	if err := simredis.CheckChannel(channel); err != nil {
		n.process.x.Fail(fmt.Errorf("%w%s", err, callerLines()))
	}
	n.process.x.Journal.record("Notifier.Subscribe " + channel)
	if t == nil || n.process.dead || n.process.lastReplyStep == len(n.process.x.schedule) && t.awaitSubscription() != nil {
		return func() {}
	}
	l := n.process.listener(channel, t.actor)
	l.notify = append(l.notify, &notify)
	return func() { l.notify = slices.DeleteFunc(l.notify, func(n *func(string)) bool { return n == &notify }) }
}

// awaitSubscription waits until the schedule lets t subscribe.
func (t *Task) awaitSubscription() error {
	t.subscribing = true
	t.recordCallSite()
	err := park(t)
	t.subscribing = false
	if err == nil {
		t.actor.Process.recordEvent("subscribe " + t.label)
	}
	return err
}
