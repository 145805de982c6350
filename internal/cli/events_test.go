package cli

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"lockstep/internal/test/suite"
	"lockstep/internal/witness"
)

// The front of a cluster streams the events of all replicas. A returning watcher continues after its last event.
func TestFrontStreamsEventsOfEveryReplica(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "2", "--lock", "v4")
	collected, _ := c.Events()
	for range 4 {
		c.Sell()
	}
	ctx, cancel := context.WithTimeout(t.Context(), suite.Patience)
	defer cancel()
	sold := func(sales ...string) func([]witness.Event) bool {
		return func(events []witness.Event) bool {
			for _, sale := range sales {
				if !slices.ContainsFunc(events, func(e witness.Event) bool { return e.Sale == sale && e.Kind == witness.KindEnds }) {
					return false
				}
			}
			return true
		}
	}
	if err := collected.WaitUntil(ctx, sold("r1#1", "r2#1", "r1#2", "r2#2")); err != nil {
		t.Fatalf("%v: %v", err, collected.Events())
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	watching, leave := context.WithCancel(ctx)
	var last string
	_, _ = witness.Follow(watching, client, c.URL()+"/events", "", func(id string, e witness.Event) {
		if e.Sale == "r1#1" && e.Kind == witness.KindEnds {
			last = id
			leave()
		}
	})
	watching, leave = context.WithCancel(ctx)
	_, _ = witness.Follow(watching, client, c.URL()+"/events", last, func(_ string, e witness.Event) {
		if e.Sale == "r1#1" {
			t.Errorf("%+v was sent again", e)
		}
		if e.Sale == "r1#2" && e.Kind == witness.KindEnds {
			leave()
		}
	})
	if ctx.Err() != nil {
		t.Error("the events after the last one seen were not sent")
	}
}
