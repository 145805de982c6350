package tab

import (
	"bytes"
	"testing"
)

// What comes to a gate that is shut waits there, and goes on in order when it is open.
func TestGate(t *testing.T) {
	var arrived bytes.Buffer
	gate := &Gate{}
	road, written := gate.through(&arrived), make(chan struct{})
	_, _ = road.Write([]byte("a"))
	for range 2 { // that is as shut as once
		gate.Shut()
	}
	go func() {
		defer close(written)
		for _, piece := range []string{"b", "c"} {
			_, _ = road.Write([]byte(piece))
		}
	}()
	select {
	case <-written:
		t.Fatal("a gate that is shut lets pass")
	default:
	}
	if got := arrived.String(); got != "a" {
		t.Errorf("%q has arrived; want what came before", got)
	}
	gate.Open()
	gate.Open()
	<-written
	if got := arrived.String(); got != "abc" {
		t.Errorf("%q has arrived", got)
	}
}
