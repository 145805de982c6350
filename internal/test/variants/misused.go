package variants

import (
	"context"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/lock/strategy"
)

// misused are locks that ask the explorer's Redis for what it does not have.
func misused() []Variant {
	return []Variant{
		{Name: "waits in Redis", Lock: sending("BLPOP", under("free"), 0)},
		{Name: "waits in Redis for a second", Lock: sending("BZPOPMIN", under("free"), 1)},
		{Name: "waits for replicas", Lock: sending("WAIT", 1, 100)},
		{Name: "listens to Redis by itself", Lock: ofTake(subscribes)},
		{Name: "a command that there is not", Lock: sending("LOCK", key)},
		{Name: "a command that there is not, in a script", Lock: sending("EVAL", "return redis.call('LOCK', KEYS[1])", 1, key)},
		{Name: "a command that there is not, and a script that goes on", Lock: sending("EVAL", "redis.pcall('LOCK', KEYS[1]) return 1", 1, key)},
		{Name: "an option that there is not", Lock: sending("SET", key, "A", "IFDEQ", "free")},
		{Name: "takes any of a set", Lock: sending("SPOP", under("free"))},
		{Name: "chance in a script", Lock: sending("EVAL", "return math.random(9)", 0)},
		{Name: "an expiry of a field", Lock: sending("HEXPIRE", key, 10, "FIELDS", 1, "owner")},
		{Name: "a stream", Lock: sending("XREAD", "BLOCK", 0, "STREAMS", under("line"), "$")},
		{Name: "how long a key was not used", Lock: sending("OBJECT", "IDLETIME", key)},
		{Name: "another database", Lock: sending("SELECT", 1)},
		{Name: "a transaction by hand", Lock: sending("MULTI")},
		{Name: "asks for keyspace notifications", Lock: sending("CONFIG", "SET", "notify-keyspace-events", "KEA")},
		{Name: "listens to its key", Lock: ofTake(listensTo("__keyspace@0__:" + key))},
		{Name: "listens to what is deleted", Lock: ofTake(listensTo("__keyevent@0__:del"))},
		{Name: "a key that nobody knows", Lock: polls(underKey("my-lock"))},
		{Name: "a key in another slot", Lock: polls(underKey(key + ":count"))},
		{Name: "a key of the store's slot", Lock: polls(underKey("{inventory}:lock"))},
		{Name: "a key that a script writes", Lock: sending("EVAL", "return redis.call('INCR', 'tries')", 0)},
		{Name: "a key of the store's, too", Lock: sending("EVAL", "return redis.call('RENAME', KEYS[2], KEYS[1])", 2, key, "inventory")},
	}
}

// sending sends a command before it makes an attempt.
func sending(command ...any) strategy.Strategy {
	return polls(func(p process) ask {
		return func(ctx context.Context, owner string) (unlock, error) {
			if _, err := replied(ctx, command, p.client.Do(ctx, command...).Result); err != nil {
				return nil, err
			}
			return p.release(owner), p.take(ctx, owner)
		}
	})
}

// subscribes waits for a message beside the notifier.
func subscribes(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		return p.waits(ctx, owner, func() error { return p.take(ctx, owner) }, func() error {
			listening := p.client.Subscribe(ctx, channel)
			_, err := listening.ReceiveTimeout(ctx, time.Second)
			return rediserr.Classify(ctx, "SUBSCRIBE", err)
		})
	}
}

// listensTo waits for what Redis says of its keys, as after CONFIG SET notify-keyspace-events.
func listensTo(channel string) func(process) take {
	return func(p process) take {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			rung, stop := p.listen(channel)
			defer stop()
			return p.waits(ctx, owner, func() error { return p.take(ctx, owner) }, func() error { return p.Clock.Wait(ctx, rung) })
		}
	}
}

// underKey is a right lock, but for its key.
func underKey(other string) func(process) ask {
	return func(p process) ask {
		return func(ctx context.Context, owner string) (unlock, error) {
			reply, err := p.text(ctx, "SET", other, owner, "NX", "PX", p.ttl)
			if err == nil {
				err = obtained(reply == "OK")
			}
			return p.compareAndDelete(other, owner), err
		}
	}
}
