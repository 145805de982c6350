package lab_test

import (
	"regexp"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/stage/lab"
)

var han = regexp.MustCompile(`\p{Han}`)

// A lab that is in Chinese is so from end to end.
func TestALabIsTranslatedWholly(t *testing.T) {
	for _, english := range lab.All() {
		l := english.In(language.Chinese)
		texts := []string{l.Claim, l.Cure, l.Fault}
		for _, e := range l.Expected {
			texts = append(texts, e.Why)
		}
		for _, text := range texts {
			if !han.MatchString(text) {
				t.Errorf("%s says in Chinese: %s", l.Name, text)
			}
		}
		if again := english.In(language.English); again.Claim != english.Claim || len(l.Expected) != len(english.Expected) {
			t.Errorf("%s says in English: %+v", l.Name, again)
		}
	}
}
