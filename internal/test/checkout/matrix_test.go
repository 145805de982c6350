package checkout

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/lock/verdict"
	"lockstep/internal/stage/lab"
	"lockstep/internal/test/suite"
)

// matrixPages are what matrix --markdown prints, in each language.
var matrixPages = map[language.Language]string{language.English: "docs/MATRIX.md", language.Chinese: "docs/MATRIX.zh-CN.md"}

// The pages have every cell as it is expected. Go test ./internal/test/checkout -tags long -run Matrix -update runs all of them, and writes
// the pages anew.
func TestMatrixPagesAreAsExpected(t *testing.T) {
	if *update {
		t.Skip("what is expected is not what was observed: only the long suite writes these pages")
	}
	compareMatrix(t, lab.Expected(language.English))
}

// A quick run observes what the pages say. What cannot be run on this machine is not compared.
func TestMatrixPagesAreAsObserved(t *testing.T) {
	suite.LongOnly(t, "that the pages are as expected is seen in the quick suite, and so are a few of the labs")
	arguments := []string{"matrix", "--json"}
	if !*update {
		arguments = append(arguments, "--quick")
	}
	program := build(t, "")
	command := exec.Command(program, arguments...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var observed lab.Matrix
	if err := json.Unmarshal(output, &observed); err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	t.Log(observed.Summary())
	for _, a := range observed.Anomalies {
		for _, s := range observed.Strategies {
			c := observed.Cells[a.Name][s]
			if c.Observed == verdict.Unknown && !c.AsExpected() { // beside so many others
				t.Logf("%s, %s is run again: %s", a.Name, s, c.Says)
				if code, _ := runLab(t, version{program: program}, a.Name+" --redis embedded --lock "+s); code == 0 {
					c.Observed = c.Expected
					observed.Cells[a.Name][s] = c
				}
			}
			switch {
			case c.Ran() && !c.AsExpected():
				t.Errorf("%s, %s: %s", a.Name, s, observed.Outcome(c))
			case !c.Ran() && *update:
				t.Fatalf("%s, %s was not run: %s. Then the pages cannot be written here", a.Name, s, c.NotRun)
			}
		}
	}
	if !*update {
		compareMatrix(t, observed)
		return
	}
	for in, name := range matrixPages {
		page := []byte(lab.Expected(in).With(observed).Markdown(asTyped.Name))
		if err := os.WriteFile(name, page, 0o644); err != nil { //nolint:gosec // it is for everybody to read
			t.Fatal(err)
		}
	}
}

// compareMatrix compares the pages with what was observed; what was not is as expected.
func compareMatrix(t *testing.T, observed lab.Matrix) {
	t.Helper()
	for in, name := range matrixPages {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if want := lab.Expected(in).With(observed).Markdown(asTyped.Name); string(page) != want {
			t.Errorf("%s is not what the matrix is: go test ./internal/test/checkout -tags long -run Matrix -update\n%s", name, want)
		}
	}
}
