// Package evolution holds the table of strategies, in the order of the course, and what bench measured of each. No other package knows
// every lock. Begin with Table and Find.
package evolution

import (
	"fmt"
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// Table returns every strategy: v0 to v11, then the branches and the contrasts.
func Table() []strategy.Strategy { return append(steps(), contrasts()...) }

// both returns a text in both languages.
func both(english, chinese string) language.Text { return language.Both(english, chinese) }

// newFlaw returns a flaw with its text in both languages.
func newFlaw(id, english, chinese string) strategy.Flaw {
	return strategy.Flaw{ID: id, Text: both(english, chinese)}
}

// Names returns the names of the strategies, in the order of Table.
func Names() []string {
	var names []string
	for _, s := range Table() {
		names = append(names, s.Name)
	}
	return names
}

// ErrUnknown is returned by Find for a name that is not in the table.
var ErrUnknown = lock.WithCode("unknown_lock", "there is no such lock")

// Find returns the strategy called name, or ErrUnknown.
func Find(name string) (strategy.Strategy, error) {
	for _, s := range Table() {
		if s.Name == name {
			return s, nil
		}
	}
	return strategy.Strategy{}, language.Translate(fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(Names(), ", ")),
		"没有“%s”这种锁；可选：%s", name, strings.Join(Names(), "、"))
}
