package seat

import (
	"slices"
	"sync"
	"time"
)

const (
	mostLarge = 100              // scenarios that are remembered
	largeFor  = 10 * time.Minute // by then, a bound of time or memory may suffice
)

// large remembers which scenarios are too large for a map, so that nobody waits to hear it again.
type large struct {
	now func() time.Time

	mu   sync.Mutex
	said []tooLarge // the latest last
}

type tooLarge struct {
	name  string
	err   error
	until time.Time
}

// is gives the error with which a map was given up a while ago, or nil.
func (l *large) is(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.said = slices.DeleteFunc(l.said, func(one tooLarge) bool { return !now.Before(one.until) })
	for _, one := range l.said {
		if one.name == name {
			return one.err
		}
	}
	return nil
}

// note remembers one.
func (l *large) note(name string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.said) == mostLarge {
		l.said = slices.Delete(l.said, 0, 1)
	}
	l.said = append(l.said, tooLarge{name, err, l.now().Add(largeFor)})
}
