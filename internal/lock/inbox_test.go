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
			time.Sleep(time.Millisecond)
			b.notify("a 7")
			b.notify("b 8") // nobody has looked at the one before
		}()
		if d := waited(t.Context()); d != time.Millisecond {
			t.Errorf("Wait took %v; a message came after 1ms", d)
		}
		synctest.Wait()
		if inbox.Token("a") != 0 || inbox.Token("b") != 8 {
			t.Errorf("tokens %d of a, %d of b; the last message is b's", inbox.Token("a"), inbox.Token("b"))
		}
		if d := waited(t.Context()); d != 0 { // the second came when nobody waited
			t.Errorf("Wait took %v; a message was there", d)
		}
		for _, nonsense := range []string{"", "b", "b ", "b x", " 8", "b 8 9"} {
			if b.notify(nonsense); inbox.Token("b") != 0 {
				t.Errorf("%q is token %d", nonsense, inbox.Token("b"))
			}
		}
		inbox.Close()
		inbox.Close()
		if b.notify != nil || !inbox.Open() {
			t.Error("a closed inbox listens, or cannot be opened again")
		}
	})
}
