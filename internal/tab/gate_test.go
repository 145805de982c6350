package tab

import (
	"bytes"
	"testing"
)

func TestShutGateHoldsWritesUntilItOpens(t *testing.T) {
	var arrived bytes.Buffer
	gate := &Gate{}
	w, written := gate.writer(&arrived), make(chan struct{})
	_, _ = w.Write([]byte("a"))
	for range 2 { // Shutting twice is the same as once.
		gate.Shut()
	}
	go func() {
		defer close(written)
		for _, piece := range []string{"b", "c"} {
			_, _ = w.Write([]byte(piece))
		}
	}()
	select {
	case <-written:
		t.Fatal("a write passed a gate that is shut")
	default:
	}
	if got := arrived.String(); got != "a" {
		t.Errorf("got %q; want what was written before", got)
	}
	gate.Open()
	gate.Open()
	<-written
	if got := arrived.String(); got != "abc" {
		t.Errorf("got %q; want abc", got)
	}
}
