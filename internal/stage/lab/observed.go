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

// In says it in a language.
func (o Observed) In(in language.Language) string {
	switch o {
	case Broken:
		return language.Both("broken", "会发生").In(in)
	case Holds:
		return language.Both("holds", "不会发生").In(in)
	case Unknown:
		return language.Both("unknown", "未知").In(in)
	case NA:
		return language.Both("n/a", "不适用").In(in)
	default:
		return language.Both("not run", "未运行").In(in)
	}
}

// mark says it in one sign.
func (o Observed) mark() string {
	switch o {
	case Broken:
		return "✗"
	case Holds:
		return "✓"
	case Unknown:
		return "?"
	case NA:
		return "–"
	default:
		return "·"
	}
}

// observations gives all, in the order in which a legend has them.
func observations() []Observed { return []Observed{Broken, Holds, Unknown, NA, ""} }
