package dao_test

import (
	"testing"

	"lockstep/internal/dao"
	"lockstep/internal/test/redisserver"
)

// A subscriber may unsubscribe and subscribe again while the notifier calls it.
func TestNotifierCallsSubscribersWithoutMutex(t *testing.T) {
	r, err := dao.Open(t.Context(), dao.Config{Addrs: []string{redisserver.Start(t).Addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	heard := make(chan string, 10)
	stops := make(chan func(), 1)
	stops <- r.Notifier.Subscribe("channel", func(message string) {
		(<-stops)()
		stops <- r.Notifier.Subscribe("channel", func(message string) { heard <- "second: " + message })
		heard <- "first: " + message
	})
	if got := <-heard; got != "first: " { // it may have missed something before it listened
		t.Errorf("heard %q", got)
	}
	if err := r.Store.Publish(t.Context(), "channel", "hello").Err(); err != nil {
		t.Fatal(err)
	}
	if got := <-heard; got != "second: hello" {
		t.Errorf("heard %q; want what was published, by who listens now", got)
	}
}
