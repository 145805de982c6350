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
	used   list.List // of *kept, that used last in front
}

// kept is a map that is kept, and may be in use.
type kept struct {
	name    string
	drawn   *graph.Map
	users   int
	dropped bool
}

func newMaps(most int) *maps { return &maps{most: most, byName: map[string]*list.Element{}} }

// get gives a map that is kept, or nil. Whoever got one is done with it in the end.
func (m *maps) get(name string) (drawn *graph.Map, done func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	element, known := m.byName[name]
	if !known {
		return nil, nil
	}
	m.used.MoveToFront(element)
	k, _ := element.Value.(*kept)
	return m.lend(k)
}

// put keeps a map for others, and lends it. Those used longest ago make room; one that is too large for the bound is kept until it is done
// with.
func (m *maps) put(name string, drawn *graph.Map) (*graph.Map, func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := &kept{name: name, drawn: drawn}
	_, done := m.lend(k)
	m.byName[name] = m.used.PushFront(k)
	for m.bytes += drawn.Bytes(); m.bytes > m.most; {
		m.drop(m.used.Back())
	}
	return drawn, done
}

// lend counts a user.
func (m *maps) lend(k *kept) (*graph.Map, func()) {
	k.users++
	return k.drawn, sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if k.users--; k.users == 0 && k.dropped {
			k.drawn.Close()
		}
	})
}

// drop forgets a map.
func (m *maps) drop(element *list.Element) {
	k, _ := m.used.Remove(element).(*kept)
	delete(m.byName, k.name)
	m.bytes -= k.drawn.Bytes()
	if k.dropped = true; k.users == 0 {
		k.drawn.Close()
	}
}

// close drops all.
func (m *maps) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.used.Len() > 0 {
		m.drop(m.used.Back())
	}
}
