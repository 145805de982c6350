package seat

import (
	"container/list"
	"sync"

	"lockstep/internal/explore/graph"
)

// maps keeps the maps that were used last, as many as fit into a bound.
type maps struct {
	mu     sync.Mutex
	most   int // bytes
	bytes  int
	byName map[string]*list.Element
	used   list.List // of kept, that used last in front
}

type kept struct {
	name  string
	drawn *graph.Map
}

func newMaps(most int) *maps { return &maps{most: most, byName: map[string]*list.Element{}} }

// get gives a map that is kept, or nil.
func (m *maps) get(name string) *graph.Map {
	m.mu.Lock()
	defer m.mu.Unlock()
	element, known := m.byName[name]
	if !known {
		return nil
	}
	m.used.MoveToFront(element)
	k, _ := element.Value.(kept)
	return k.drawn
}

// put keeps a map. Those used longest ago make room; one that is larger than the bound is not kept.
func (m *maps) put(name string, drawn *graph.Map) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byName[name] = m.used.PushFront(kept{name, drawn})
	for m.bytes += drawn.Bytes(); m.bytes > m.most; {
		last, _ := m.used.Remove(m.used.Back()).(kept)
		delete(m.byName, last.name)
		m.bytes -= last.drawn.Bytes()
	}
}
