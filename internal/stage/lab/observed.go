package lab

import "lockstep/internal/language"

// Observed is what a run has shown of a lock; empty: there was none.
type Observed string

// The observations.
const (
	Broken  Observed = "broken"
	Holds   Observed = "holds"
	Unknown Observed = "unknown" // the fault hit nobody, or something else went wrong
	NA      Observed = "n/a"     // the lab is not for this lock
)

// sign is how a table shows an observation.
type sign struct {
	Observed
	mark  string
	class string // in HTML
	word  language.Text
}

// signs gives all, in the order in which a legend has them.
func signs() []sign {
	return []sign{
		{Broken, "✗", "broken", language.Both("broken", "会发生")},
		{Holds, "✓", "holds", language.Both("holds", "不会发生")},
		{Unknown, "?", "unknown", language.Both("unknown", "未知")},
		{NA, "–", "na", language.Both("n/a", "不适用")},
		{"", "·", "notrun", language.Both("not run", "未运行")},
	}
}

func (o Observed) sign() (s sign) {
	for _, s = range signs() {
		if s.Observed == o {
			break
		}
	}
	return s
}

// In says it in a language.
func (o Observed) In(in language.Language) string { return o.sign().word.In(in) }
