package seat

import (
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/graph"
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

// The map that was used longest ago makes room, and one that is in use is closed when that is over.
func TestMapsMakeRoom(t *testing.T) {
	one := drawn(t)
	m := newMaps(2 * one.Bytes())
	for name, drawn := range map[string]*graph.Map{"a": one, "b": drawn(t)} {
		_, done := m.put(name, drawn)
		done()
	}
	first, inUse := m.get("a")
	_, done := m.put("c", drawn(t))
	done()
	if gone, _ := m.get("b"); gone != nil || first != one || m.bytes != 2*one.Bytes() {
		t.Errorf("b is %v, and %d bytes are kept; want it to have made room", gone, m.bytes)
	}
	_, done = m.put("d", drawn(t)) // c is used later than a
	done()
	_, done = m.put("e", drawn(t))
	done()
	if gone, _ := m.get("a"); gone != nil {
		t.Error("a is kept")
	}
	inUse()
	m.close()
	if m.bytes != 0 || m.used.Len() != 0 || len(m.byName) != 0 {
		t.Errorf("%d bytes are left", m.bytes)
	}
}
