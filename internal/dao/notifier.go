package dao

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Notifier is a lock.Notifier made of PUBLISH and SUBSCRIBE. It has one subscription for all its channels, from the first Subscribe to
// Close. It notifies once when a broken subscription has been restored and when a channel is new: a message may have been missed.
type Notifier struct {
	client       redis.UniversalClient
	pingInterval time.Duration // when nothing has come for so long, it sees that the connection is well; 0: never

	mu          sync.Mutex
	closed      bool
	renewing    bool
	sub         *redis.PubSub
	subscribers map[string]map[*func(string)]struct{} // by channel
	goroutines  sync.WaitGroup
}

// pingInterval is how soon a subscription notices that its connection is broken, though the system does not say so.
const pingInterval = 3 * time.Second

// NewNotifier makes a notifier on a client, which it does not close.
func NewNotifier(client redis.UniversalClient) *Notifier {
	return &Notifier{client: client, pingInterval: pingInterval, subscribers: map[string]map[*func(string)]struct{}{}}
}

// Subscribe implements lock.Notifier. It does not wait for Redis.
func (n *Notifier) Subscribe(channel string, notify func(message string)) (unsubscribe func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return func() {}
	}
	if n.sub == nil {
		n.sub = n.client.Subscribe(context.Background())
		messages := n.sub.ChannelWithSubscriptions(redis.WithChannelHealthCheckInterval(n.pingInterval))
		n.goroutines.Go(func() { n.listen(messages) })
	}
	if n.subscribers[channel] == nil {
		n.subscribers[channel] = map[*func(string)]struct{}{}
		sub := n.sub
		n.goroutines.Go(func() { _ = sub.Subscribe(context.Background(), channel) }) // go-redis repeats it until it succeeds
	}
	n.subscribers[channel][&notify] = struct{}{}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.subscribers[channel], &notify)
	}
}

// listen notifies until the subscription is closed.
func (n *Notifier) listen(messages <-chan any) {
	for message := range messages {
		switch m := message.(type) {
		case *redis.Message:
			n.notify(m.Channel, m.Payload)
		case *redis.Subscription:
			n.notify(m.Channel, "")
		}
	}
}

// renew makes go-redis look at the subscription's connection, and make another one if it has been given up. It does not wait for Redis.
func (n *Notifier) renew() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.sub == nil || n.renewing {
		return
	}
	n.renewing = true
	sub := n.sub
	n.goroutines.Go(func() {
		_ = sub.Ping(context.Background()) // go-redis subscribes again, by itself
		n.mu.Lock()
		defer n.mu.Unlock()
		n.renewing = false
	})
}

// notify calls the subscribers of a channel. It does not hold the mutex meanwhile: subscribers subscribe and unsubscribe under mutexes of
// their own.
func (n *Notifier) notify(channel, message string) {
	n.mu.Lock()
	subscribers := slices.Collect(maps.Keys(n.subscribers[channel]))
	n.mu.Unlock()
	for _, notify := range subscribers {
		(*notify)(message)
	}
}

// Close ends the subscription.
func (n *Notifier) Close() error {
	n.mu.Lock()
	n.closed = true
	sub := n.sub
	n.mu.Unlock()
	if sub == nil {
		return nil
	}
	err := sub.Close()
	n.goroutines.Wait()
	return err
}
