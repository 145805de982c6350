package evolution_test

import (
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/lock"
)

// testNotifier is a process's notifier. Subscribe returns once Redis has confirmed, so that no test depends on when that happens: then nothing
// can have been missed, and nobody is told so. An ear can be deaf, and be told anything.
type testNotifier struct {
	lock.Notifier
	t *testing.T

	mu        sync.Mutex
	dropping  bool
	dropped   int // messages that came while it was deaf
	confirmed map[string]bool
	listeners map[string]func(string) // the last of each channel
}

// notifierSet are the notifiers of processes, each with a connection of its own: in virtual time a connection has no buffer, and stands still
// when two subscriptions are made on it at once.
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

// admit reports whether a message that comes now is heard.
func (n *testNotifier) admit() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dropping {
		n.dropped++
	}
	return !n.dropping
}

// countDropped is how many messages came while it was deaf.
func (n *testNotifier) countDropped() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dropped
}

// setDropping makes the ear deaf, or not.
func (n *testNotifier) setDropping(deaf bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dropping = deaf
}

// notify gives a message to whoever subscribed last to the channel.
func (n *testNotifier) notify(channel, message string) {
	n.mu.Lock()
	notify := n.listeners[channel]
	n.mu.Unlock()
	notify(message)
}
