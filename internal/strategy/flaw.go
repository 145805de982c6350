package strategy

import (
	"strings"

	"lockstep/internal/language"
)

// Flaw is something that a lock still breaks. Its ID stays when its words change: claims refer to it.
type Flaw struct {
	ID   string
	Text language.Text
}

// Flaws are those of one lock.
type Flaws []Flaw

// In tells the flaws in a language, on one line.
func (f Flaws) In(l language.Language) string {
	texts := make([]string, len(f))
	for i, flaw := range f {
		texts[i] = flaw.Text.In(l)
	}
	return strings.Join(texts, language.Both("; ", "；").In(l))
}
