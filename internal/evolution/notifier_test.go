package evolution_test

import (
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/lock"
)

// testNotifier is the notifier of one process. Its Subscribe returns once Redis has confirmed the subscription, so that tests do not depend
// on when that happens. It can drop messages, and deliver messages that nobody published.
type testNotifier struct {
	lock.Notifier
	t *testing.T

	mu        sync.Mutex
	dropping  bool
	dropped   int // number of dropped messages
	confirmed map[string]bool
	listeners map[string]func(string) // channel → its last subscriber
}

// notifierSet has the notifiers of all processes. Each has a connection of its own: in virtual time a connection has no buffer, and blocks
// if two subscriptions are made on it at once.
type notifierSet struct {
	t      *testing.T
	client redis.UniversalClient
	all    []*dao.Notifier
}

func (s *notifierSet) open() *testNotifier {
	notifier := dao.NewNotifier(s.client)
	s.all = append(s.all, notifier)
	return &testNotifier{Notifier: notifier, t: s.t, confirmed: map[string]bool{}, listeners: map[string]func(string){}}
}

func (s *notifierSet) close() {
	for _, notifier := range s.all {
		notifier.Close()
	}
}

func (n *testNotifier) Subscribe(channel string, notify func(message string)) (unsubscribe func()) {
	n.mu.Lock()
	confirmed, isConfirmed := make(chan struct{}), n.confirmed[channel]
	n.confirmed[channel], n.listeners[channel] = true, notify
	n.mu.Unlock()
	var once sync.Once
	unsubscribe = n.Notifier.Subscribe(channel, func(message string) {
		first := false
		if !isConfirmed {
			once.Do(func() { first = true; close(confirmed) })
		}
		if !first && n.admit() {
			notify(message)
		}
	})
	if !isConfirmed {
		select {
		case <-confirmed:
		case <-n.t.Context().Done():
		}
	}
	return unsubscribe
}

// admit returns whether a message is to be delivered, and counts it if it is dropped.
func (n *testNotifier) admit() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dropping {
		n.dropped++
	}
	return !n.dropping
}

// countDropped returns the number of dropped messages.
func (n *testNotifier) countDropped() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dropped
}

// setDropping sets whether messages are dropped from now on.
func (n *testNotifier) setDropping(deaf bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dropping = deaf
}

// notify delivers a message to the last subscriber of the channel.
func (n *testNotifier) notify(channel, message string) {
	n.mu.Lock()
	notify := n.listeners[channel]
	n.mu.Unlock()
	notify(message)
}
