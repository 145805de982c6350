// Package evolution is the table of strategies, in the order of the story. It is the one place that knows them all.
package evolution

import (
	"fmt"
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// Table lists every strategy.
func Table() []strategy.Strategy { return append(steps(), contrasts()...) }

func both(english, chinese string) language.Text { return language.Both(english, chinese) }

func flaw(id, english, chinese string) strategy.Flaw {
	return strategy.Flaw{ID: id, Text: both(english, chinese)}
}

// Names lists the names of the strategies.
func Names() []string {
	var names []string
	for _, s := range Table() {
		names = append(names, s.Name)
	}
	return names
}

// ErrUnknown means that a name is not in the table.
var ErrUnknown = lock.WithCode("unknown_lock", "there is no such lock")

// Find gives the strategy of that name, or ErrUnknown.
func Find(name string) (strategy.Strategy, error) {
	for _, s := range Table() {
		if s.Name == name {
			return s, nil
		}
	}
	return strategy.Strategy{}, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(Names(), ", "))
}
