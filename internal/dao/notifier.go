package dao

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Notifier is a lock.Notifier rung by PUBLISH. It has one subscription for all its channels, from the first Subscribe to Close. When that
// was broken and is made anew, and when a channel is new, it rings once, as something may have been missed.
type Notifier struct {
	client redis.UniversalClient

	mu        sync.Mutex
	closed    bool
	sub       *redis.PubSub
	listeners map[string]map[*func(string)]struct{} // by channel
	working   sync.WaitGroup
}

// NewNotifier makes a bell on a client, which it does not close.
func NewNotifier(client redis.UniversalClient) *Notifier {
	return &Notifier{client: client, listeners: map[string]map[*func(string)]struct{}{}}
}

// Subscribe implements lock.Notifier. It does not wait for Redis.
func (b *Notifier) Subscribe(channel string, ring func(message string)) (stop func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return func() {}
	}
	if b.sub == nil {
		b.sub = b.client.Subscribe(context.Background())
		messages := b.sub.ChannelWithSubscriptions()
		b.working.Go(func() { b.listen(messages) })
	}
	if b.listeners[channel] == nil {
		b.listeners[channel] = map[*func(string)]struct{}{}
		sub := b.sub
		b.working.Go(func() { _ = sub.Subscribe(context.Background(), channel) }) // it tries again by itself
	}
	b.listeners[channel][&ring] = struct{}{}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners[channel], &ring)
	}
}

// listen rings until the subscription is closed.
func (b *Notifier) listen(messages <-chan any) {
	for message := range messages {
		switch m := message.(type) {
		case *redis.Message:
			b.ring(m.Channel, m.Payload)
		case *redis.Subscription:
			b.ring(m.Channel, "")
		}
	}
}

// ring calls those who listen, not under the mutex: they have locks of their own, under which they begin and end to listen.
func (b *Notifier) ring(channel, message string) {
	b.mu.Lock()
	rings := slices.Collect(maps.Keys(b.listeners[channel]))
	b.mu.Unlock()
	for _, ring := range rings {
		(*ring)(message)
	}
}

// Close ends the subscription.
func (b *Notifier) Close() error {
	b.mu.Lock()
	b.closed = true
	sub := b.sub
	b.mu.Unlock()
	if sub == nil {
		return nil
	}
	err := sub.Close()
	b.working.Wait()
	return err
}
