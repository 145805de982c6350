package lock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/lock"
)

// board is a notifier of one channel.
type board struct {
	channel string
	notify  func(string) // nil while nobody listens
}

func (b *board) Subscribe(channel string, notify func(string)) (unsubscribe func()) {
	b.channel, b.notify = channel, notify
	return func() { b.notify = nil }
}

func TestInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &board{}
		inbox := lock.NewInbox(b, lock.SystemClock{}, "turn")
		waited := func(ctx context.Context) time.Duration {
			began := time.Now()
			inbox.Wait(ctx, time.Second)
			return time.Since(began)
		}
		if !inbox.Open() || inbox.Open() || b.channel != "turn" {
			t.Errorf("opened once, twice; listens at %q", b.channel)
		}
		if d := waited(t.Context()); d != time.Second {
			t.Errorf("Wait took %v, and no message came", d)
		}
		leaving, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		if d := waited(leaving); d != time.Millisecond {
			t.Errorf("Wait took %v; its context ended after 1ms", d)
		}
		go func() {
			_ = lock.Sleep(t.Context(), lock.SystemClock{}, time.Millisecond)
			b.notify("a 7 3")
			b.notify("b 8 3") // nobody has looked at the one before
		}()
		if d := waited(t.Context()); d != time.Millisecond {
			t.Errorf("Wait took %v; a message came after 1ms", d)
		}
		synctest.Wait()
		if held, granted := inbox.Granted(lock.Grant{Attempt: "a"}); granted {
			t.Errorf("a has %+v; the last message is b's", held)
		}
		if held, granted := inbox.Granted(lock.Grant{Attempt: "b"}); !granted || held.Attempt != "b" || held.Token != 8 || held.LastToken != 10 {
			t.Errorf("b has %+v, granted: %t; want tokens 8 to 10", held, granted)
		}
		if d := waited(t.Context()); d != 0 { // the second came when nobody waited
			t.Errorf("Wait took %v; a message was there", d)
		}
		for _, nonsense := range []string{"", "b", "b ", "b 8", "b x 3", " 8 3", "b 8 0", "b 8 -1"} {
			b.notify(nonsense)
			if held, granted := inbox.Granted(lock.Grant{Attempt: "b"}); granted {
				t.Errorf("%q grants %+v", nonsense, held)
			}
		}
		inbox.Close()
		inbox.Close()
		if b.notify != nil || !inbox.Open() {
			t.Error("a closed inbox listens, or cannot be opened again")
		}
	})
}
