package checkout

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"lockstep/internal/lab"
	"lockstep/internal/language"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

var matrixRows = regexp.MustCompile(`(<!-- the matrix -->\n)(?:\|.*\n)+`)

// Only the labs define the expectation of each lock. The table of docs/MATRIX.md repeats it, and go test ./internal/test/checkout -run Say
// -update rewrites the table. TestQuickMatrixIsAsExpected compares the expectations with a run.
func TestMatrixRowsSayWhatTheTableSays(t *testing.T) {
	for _, in := range language.All() {
		m, document := lab.ExpectedMatrix(in), "docs/MATRIX.md"
		if in == language.Chinese {
			document = "docs/MATRIX.zh-CN.md"
		}
		rows := "| " + in.Say("flaw | flawed → cured", "缺陷 | 有缺陷 → 已修复") + " | " + strings.Join(m.Strategies, " | ") + " |\n" +
			"|---|---|" + strings.Repeat(":-:|", len(m.Strategies)) + "\n"
		for _, l := range lab.All() {
			name, signs, _ := strings.Cut(m.Line(l.Name), " ")
			rows += "| " + name + " | " + l.FlawAndCure() + " | " + strings.Join(strings.Fields(signs), " | ") + " |\n"
		}
		rewritten(t, document, matrixRows, 0, "${1}"+rows)
	}
}

// A quick run observes the expected verdicts. Cells that cannot run on this machine are not compared.
func TestQuickMatrixIsAsExpected(t *testing.T) {
	suite.LongOnly(t, "a few of the labs are run in the quick suite")
	program := build(t, "")
	command := exec.Command(program, "matrix", "--json", "--quick")
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
			if !c.HasRun() || c.AsExpected() {
				continue
			}
			if c.Observed == verdict.Unknown { // beside so many others
				t.Logf("%s, %s is run again: %s", a.Name, s, c.Says)
				if code, _ := (version{program: program}).judge(t, "lab "+a.Name+" --redis embedded --lock "+s, ""); code == 0 {
					continue
				}
			}
			t.Errorf("%s, %s: %s", a.Name, s, observed.Outcome(c))
		}
	}
}
