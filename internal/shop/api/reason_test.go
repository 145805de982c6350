package api

import (
	"testing"

	"lockstep/internal/service/reason"
)

// The reason that is told of a sale's error has the code that its buyer was answered with.
func TestReasonsHaveTheCodesOfAnswers(t *testing.T) {
	codes := map[string]bool{}
	for _, because := range reason.All() {
		codes[because.Code] = true
	}
	for _, answer := range answers {
		got := reason.Code("the sale: " + answer.err.Error())
		if got != answer.code && codes[answer.code] {
			t.Errorf("of %q, the code is %s; buyers are answered %s", answer.err, got, answer.code)
		}
		delete(codes, answer.code)
	}
	if delete(codes, "internal"); len(codes) > 0 {
		t.Errorf("no buyer is answered %v", codes)
	}
}
