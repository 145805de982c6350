package dao

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Notifier implements lock.Notifier with PUBLISH and SUBSCRIBE. It shares one Redis subscription among all its channels, from the first
// Subscribe to Close. It also notifies the subscribers when a channel is new or a broken subscription has been restored, because a message
// may have been missed before.
type Notifier struct {
	client       redis.UniversalClient
	pingInterval time.Duration // silence after which the connection is checked by PING; 0: never

	mu          sync.Mutex
	closed      bool
	renewing    bool                                  // true: a renewal is in progress
	sub         *redis.PubSub                         // subscription shared by all channels; nil before the first Subscribe
	subscribers map[string]map[*func(string)]struct{} // channel -> set of callbacks
	goroutines  sync.WaitGroup
}

// pingInterval bounds how late a subscription detects a broken connection that the operating system does not report.
const pingInterval = 3 * time.Second

// NewNotifier returns a notifier that uses client. Close does not close the client.
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
		n.goroutines.Go(func() { _ = sub.Subscribe(context.Background(), channel) }) // go-redis retries until it succeeds.
	}
	n.subscribers[channel][&notify] = struct{}{}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.subscribers[channel], &notify)
	}
}

// listen passes messages to the subscribers until the subscription is closed.
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

// renew makes go-redis check the subscription's connection, and replace it if it is stale. It does not wait for Redis.
func (n *Notifier) renew() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.sub == nil || n.renewing {
		return
	}
	n.renewing = true
	sub := n.sub
	n.goroutines.Go(func() {
		_ = sub.Ping(context.Background()) // On failure go-redis reconnects and subscribes again by itself.
		n.mu.Lock()
		defer n.mu.Unlock()
		n.renewing = false
	})
}

// notify calls the subscribers of a channel without holding the mutex, because subscribers call Subscribe and unsubscribe while they hold
// mutexes of their own.
func (n *Notifier) notify(channel, message string) {
	n.mu.Lock()
	subscribers := slices.Collect(maps.Keys(n.subscribers[channel]))
	n.mu.Unlock()
	for _, notify := range subscribers {
		(*notify)(message)
	}
}

// Close ends the subscription and waits for running callbacks.
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
