package strategy

import (
	"strings"

	"lockstep/internal/language"
)

// Flaw is a known fault of a lock. Claims in tests refer to its ID, which stays when the text changes.
type Flaw struct {
	ID   string
	Text language.Text
}

// Flaws lists the flaws of one lock.
type Flaws []Flaw

// In returns the flaws in a language, in one line.
func (f Flaws) In(l language.Language) string {
	texts := make([]string, len(f))
	for i, flaw := range f {
		texts[i] = flaw.Text.In(l)
	}
	return strings.Join(texts, language.Both("; ", "；").In(l))
}
