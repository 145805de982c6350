package judge

import (
	"strings"
	"testing"

	"lockstep/internal/language"
)

// Each symptom has a sentence in both languages, with the same number of arguments.
func TestEachSymptomHasTextsInBothLanguages(t *testing.T) {
	for symptom, text := range symptomTexts() {
		english, chinese := text.In(language.English), text.In(language.Chinese)
		if english == "" || chinese == english || strings.Count(english, "%") != strings.Count(chinese, "%") {
			t.Errorf("symptom %d: got %q and %q; want two texts with the same arguments", symptom, english, chinese)
		}
	}
}
