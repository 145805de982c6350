package lab_test

import (
	"regexp"
	"testing"

	"lockstep/internal/lab"
	"lockstep/internal/witness"
)

var han = regexp.MustCompile(`\p{Han}`)

// A lab whose claim is in Chinese is so from end to end.
func TestALabIsTranslatedWholly(t *testing.T) {
	translated := 0
	for _, english := range lab.All() {
		l := english.In(witness.Chinese)
		if l.Claim == english.Claim {
			continue // not yet
		}
		translated++
		texts := []string{l.Claim, l.Cure, l.Fault}
		for _, e := range l.Expected {
			texts = append(texts, e.Why)
		}
		for _, text := range texts {
			if !han.MatchString(text) {
				t.Errorf("%s says in Chinese: %s", l.Name, text)
			}
		}
		if again := english.In(witness.English); again.Claim != english.Claim || len(l.Expected) != len(english.Expected) {
			t.Errorf("%s says in English: %+v", l.Name, again)
		}
	}
	if translated < 16 {
		t.Errorf("%d labs are in Chinese", translated)
	}
}
