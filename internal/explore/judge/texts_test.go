package judge

import (
	"strings"
	"testing"

	"lockstep/internal/language"
)

// Each way to show an anomaly has its sentence in both languages, for the same values.
func TestEachSymptomHasTextsInBothLanguages(t *testing.T) {
	for how, text := range texts() {
		english, chinese := text.In(language.English), text.In(language.Chinese)
		if english == "" || chinese == english || strings.Count(english, "%") != strings.Count(chinese, "%") {
			t.Errorf("%d: %q, %q", how, english, chinese)
		}
	}
}
