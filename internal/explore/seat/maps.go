package seat

import (
	"slices"
	"sync"
	"time"

	"lockstep/internal/explore/session"
	"lockstep/internal/language"
)

const (
	tooLargeFor = 10 * time.Minute // by then, a bound of time or memory may suffice
	errorBytes  = 1 << 10          // about what it takes to remember that a scenario is too large
)

// maps keeps the maps that were used last, as many as fit into a bound. It also remembers for a while which scenarios are too large for
// one, so that nobody waits to hear it again.
type maps struct {
	now  func() time.Time
	most int // bytes

	mu   sync.Mutex
	kept []kept // the one that was used last is the last
}

// kept is what is known of a scenario: its map, or why there is none.
type kept struct {
	name  string
	drawn *session.Map
	err   error
	in    language.Language // that the error speaks
	until time.Time         // when the error is forgotten
}

func (k kept) bytes() int {
	if k.err != nil {
		return errorBytes
	}
	return k.drawn.Bytes()
}

// get returns the map of a scenario, or the error with which it was given up a while ago; neither, if nothing is known.
func (m *maps) get(name string, in language.Language) (*session.Map, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.kept = slices.DeleteFunc(m.kept, func(k kept) bool { return k.err != nil && !now.Before(k.until) })
	i := slices.IndexFunc(m.kept, func(k kept) bool { return k.name == name && (k.err == nil || k.in == in) })
	if i < 0 {
		return nil, nil //nolint:nilnil // nobody has drawn it
	}
	used := m.kept[i]
	m.kept = append(slices.Delete(m.kept, i, i+1), used)
	return used.drawn, used.err
}

// put keeps a map, or the error of one that is too large. Those used longest ago make room; one that is larger than the bound is not kept.
func (m *maps) put(name string, drawn *session.Map, err error, in language.Language) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = append(m.kept, kept{name, drawn, err, in, m.now().Add(tooLargeFor)})
	bytes := 0
	for i, k := range slices.Backward(m.kept) {
		if bytes += k.bytes(); bytes > m.most {
			m.kept = slices.Delete(m.kept, 0, i+1)
			return
		}
	}
}
