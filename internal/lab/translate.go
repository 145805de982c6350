package lab

import "lockstep/internal/witness"

// Translate gives a text of a lab in another language; as it is, where it has not been translated.
func Translate(in witness.Language, text string) string {
	if in == witness.Chinese {
		for _, both := range chinese() {
			if both[0] == text {
				return both[1]
			}
		}
	}
	return text
}

// In gives the lab in another language.
func (l Lab) In(language witness.Language) Lab {
	l.Claim, l.Cure, l.Fault = Translate(language, l.Claim), Translate(language, l.Cure), Translate(language, l.Fault)
	expected := make([]Expectation, len(l.Expected))
	for i, e := range l.Expected {
		e.Why = Translate(language, e.Why)
		expected[i] = e
	}
	l.Expected = expected
	return l
}
