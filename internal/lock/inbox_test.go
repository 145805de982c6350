package lock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/lock"
)

// fakeNotifier is a notifier with one subscriber.
type fakeNotifier struct {
	channel string
	notify  func(string) // nil: not subscribed
}

func (b *fakeNotifier) Subscribe(channel string, notify func(string)) (unsubscribe func()) {
	b.channel, b.notify = channel, notify
	return func() { b.notify = nil }
}

func TestInboxWaitReturnsOnMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeNotifier{}
		inbox := lock.NewInbox(lock.Options{Notifier: b, Clock: lock.SystemClock{}}, "turn")
		waited := func(ctx context.Context) time.Duration {
			began := time.Now()
			inbox.Wait(ctx, time.Second)
			return time.Since(began)
		}
		if d := waited(t.Context()); d != 0 || b.channel != "turn" {
			t.Errorf("the first Wait took %v; it listens at %q", d, b.channel)
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
			b.notify("")
			b.notify("") // second message while the first is unread
		}()
		if d := waited(t.Context()); d != time.Millisecond {
			t.Errorf("Wait took %v; a message came after 1ms", d)
		}
		synctest.Wait()
		if d := waited(t.Context()); d != 0 { // the second came when nobody waited
			t.Errorf("Wait took %v; a message was there", d)
		}
		for range 2 {
			if err := inbox.Close(); err != nil || b.notify != nil {
				t.Errorf("Close: %v; or it still listens", err)
			}
		}
		if inbox.Wait(t.Context(), time.Second); b.notify == nil {
			t.Error("a closed inbox cannot be opened again")
		}
	})
}
