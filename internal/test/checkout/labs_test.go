package checkout

import (
	"regexp"
	"slices"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/lab"
	"lockstep/internal/verdict"
)

var (
	isStep   = regexp.MustCompile(`^(v\d+|delex|redlock)$`)
	runsLab  = regexp.MustCompile(`go run \. lab ([a-z][a-z-]*)(?: --lock ([\w-]+))?`)
	explored = regexp.MustCompile(`go run \. explore ([a-z][\w-]*)`)
)

// At least one lab breaks each step, and says how the explorer shows the same. It is the lab for the flaw of the step, or another one.
func TestEachStepFailsInItsLab(t *testing.T) {
	for _, step := range evolution.Names() {
		if isStep.MatchString(step) && !slices.ContainsFunc(lab.OnService(), func(l lab.Lab) bool {
			return l.Expects(step).Verdict == verdict.Broken && l.InExplorer(step) != ""
		}) {
			t.Errorf("no lab breaks %s and says how the explorer does", step)
		}
	}
}

// Every lab and lock in a command of a document exists, and each lab applies to the lock that it is given.
func TestDocumentsNameLabsAndLocksThatExist(t *testing.T) {
	for _, document := range documents() {
		text := read(t, document)
		for _, typed := range runsLab.FindAllStringSubmatch(text, -1) {
			l, err := lab.Find(typed[1])
			if err == nil && typed[2] != "" {
				err = l.Check(typed[2], "")
			}
			if err != nil {
				t.Errorf("%s: %s: %v", document, typed[0], err)
			}
		}
		for _, typed := range explored.FindAllStringSubmatch(text, -1) {
			if _, err := evolution.Find(typed[1]); err != nil {
				t.Errorf("%s: %s: %v", document, typed[0], err)
			}
		}
	}
}
