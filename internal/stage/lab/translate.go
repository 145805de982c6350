package lab

import "lockstep/internal/language"

// Translate gives a text of a lab in another language; as it is, where it has not been translated.
func Translate(in language.Language, text string) string { return chinese().Translate(in, text) }

// In gives the lab in another language: what it says of itself, and what its runs will say.
func (l Lab) In(in language.Language) Lab {
	l.language = in
	l.Claim, l.Cure, l.Fault = Translate(in, l.Claim), Translate(in, l.Cure), Translate(in, l.Fault)
	expected := make([]Expectation, len(l.Expected))
	for i, e := range l.Expected {
		e.Why = Translate(in, e.Why)
		expected[i] = e
	}
	l.Expected = expected
	return l
}
