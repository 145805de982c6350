package evolution_test

import (
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/lock"
)

// ear is a process's notifier. Subscribe returns once Redis has confirmed, so that no test depends on when that happens: then nothing
// can have been missed, and nobody is told so. An ear can be deaf, and be told anything.
type ear struct {
	lock.Notifier
	t *testing.T

	mu        sync.Mutex
	deaf      bool
	lost      int // messages that came while it was deaf
	confirmed map[string]bool
	listeners map[string]func(string) // the last of each channel
}

// ears are the notifiers of processes, each with a connection of its own: in virtual time a connection has no buffer, and stands still
// when two subscriptions are made on it at once.
type ears struct {
	t      *testing.T
	client redis.UniversalClient
	all    []*dao.Notifier
}

func (e *ears) open() *ear {
	notifier := dao.NewNotifier(e.client)
	e.all = append(e.all, notifier)
	return &ear{Notifier: notifier, t: e.t, confirmed: map[string]bool{}, listeners: map[string]func(string){}}
}

func (e *ears) close() {
	for _, notifier := range e.all {
		notifier.Close()
	}
}

func (e *ear) Subscribe(channel string, notify func(message string)) (unsubscribe func()) {
	e.mu.Lock()
	confirmed, known := make(chan struct{}), e.confirmed[channel]
	e.confirmed[channel], e.listeners[channel] = true, notify
	e.mu.Unlock()
	var once sync.Once
	unsubscribe = e.Notifier.Subscribe(channel, func(message string) {
		first := false
		if !known {
			once.Do(func() { first = true; close(confirmed) })
		}
		if !first && e.hears() {
			notify(message)
		}
	})
	if !known {
		select {
		case <-confirmed:
		case <-e.t.Context().Done():
		}
	}
	return unsubscribe
}

// hears reports whether a message that comes now is heard.
func (e *ear) hears() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.deaf {
		e.lost++
	}
	return !e.deaf
}

// missed is how many messages came while it was deaf.
func (e *ear) missed() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lost
}

// set makes the ear deaf, or not.
func (e *ear) set(deaf bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deaf = deaf
}

// tell gives a message to whoever subscribed last to the channel.
func (e *ear) tell(channel, message string) {
	e.mu.Lock()
	notify := e.listeners[channel]
	e.mu.Unlock()
	notify(message)
}
