package seat

import (
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/explore/graph"
	"lockstep/internal/lock/evolution"
)

func drawn(t *testing.T) *graph.Map {
	t.Helper()
	strategy, err := evolution.Find("v0")
	if err != nil {
		t.Fatal(err)
	}
	m, err := graph.Draw(t.Context(), strategy, explore.Scenario{Actors: 2}, explore.Bounds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The map that was used longest ago makes room, and one that is too large is not kept.
func TestMapsMakeRoom(t *testing.T) {
	one := drawn(t)
	m := newMaps(2 * one.Bytes())
	m.put("a", one)
	m.put("b", drawn(t))
	if m.get("a") != one {
		t.Error("a is not kept")
	}
	m.put("c", drawn(t))
	if m.get("b") != nil || m.get("a") != one || m.get("c") == nil || m.bytes != 2*one.Bytes() {
		t.Errorf("%d bytes are kept: b is %v; want it to have made room", m.bytes, m.get("b"))
	}
	small := newMaps(one.Bytes() - 1)
	if small.put("a", one); small.get("a") != nil || small.bytes != 0 {
		t.Errorf("%d bytes are kept, in a bound of %d", small.bytes, small.most)
	}
}
