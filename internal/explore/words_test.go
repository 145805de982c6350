package explore

import (
	"strings"
	"testing"

	"lockstep/internal/explore/checker"
	"lockstep/internal/language"
)

// Each way to show an anomaly has its sentence in both languages, for the same values.
func TestEveryIDHasItsWords(t *testing.T) {
	texts := findingTexts()
	if len(texts) != len(checker.Hows()) {
		t.Fatalf("there are %d sentences for %d ways to show an anomaly", len(texts), len(checker.Hows()))
	}
	for how, text := range texts {
		english, chinese := text.In(language.English), text.In(language.Chinese)
		if english == "" || chinese == english || strings.Count(english, "%") != strings.Count(chinese, "%") {
			t.Errorf("%d: %q, %q", how, english, chinese)
		}
	}
}
