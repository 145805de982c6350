package seat

import (
	"slices"
	"sync"

	"lockstep/internal/explore/graph"
)

// maps keeps the maps that were used last, as many as fit into a bound.
type maps struct {
	mu    sync.Mutex
	most  int // bytes
	bytes int
	kept  []kept // the one that was used last is the last
}

type kept struct {
	name  string
	drawn *graph.Map
}

func newMaps(most int) *maps { return &maps{most: most} }

// get returns a map that is kept, or nil.
func (m *maps) get(name string) *graph.Map {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.kept, func(k kept) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	used := m.kept[i]
	m.kept = append(slices.Delete(m.kept, i, i+1), used)
	return used.drawn
}

// put keeps a map. Those used longest ago make room; one that is larger than the bound is not kept.
func (m *maps) put(name string, drawn *graph.Map) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = append(m.kept, kept{name, drawn})
	for m.bytes += drawn.Bytes(); m.bytes > m.most; {
		m.bytes -= m.kept[0].drawn.Bytes()
		m.kept = slices.Delete(m.kept, 0, 1)
	}
}
