package lab_test

import (
	"encoding/json"
	"strings"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/lab"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// Every cell has the expected verdict, the reason for it, and the command that shows it, unless there is nothing to show.
func TestCellsHaveTheirReasonAndCommand(t *testing.T) {
	m := lab.ExpectedMatrix(language.English)
	if len(m.Anomalies) != len(lab.All()) || len(m.Strategies) != len(evolution.Names()) {
		t.Fatalf("%d rows, %d columns", len(m.Anomalies), len(m.Strategies))
	}
	for _, a := range m.Anomalies {
		if a.Claim == "" {
			t.Errorf("%s claims nothing", a.Name)
		}
		if len(a.Name) > 27 || m.Width() > 80 {
			t.Errorf("%s, %d columns: the table is too wide for a terminal", a.Name, m.Width())
		}
		shown := 0
		for _, s := range m.Strategies {
			c := m.Cells[a.Name][s]
			if c.Expected != verdict.NA {
				shown++
			}
			if c.Why == "" || c.Expected == "" || (c.How == "") != (c.Expected == verdict.NA) {
				t.Errorf("%s, %s is not whole: %+v", a.Name, s, c)
			}
			if c.Expected == verdict.Broken && strings.HasSuffix(c.How, "--all") {
				t.Errorf("%s, %s is broken, and nothing shows how: %+v", a.Name, s, c)
			}
		}
		if shown == 0 {
			t.Errorf("%s is of no strategy", a.Name)
		}
	}
}

func TestMatrixExitCode(t *testing.T) {
	good, bad := lab.Cell{Observed: verdict.Broken, Expected: verdict.Broken}, lab.Cell{Observed: verdict.Holds, Expected: verdict.Broken}
	unsaid, notRun := lab.Cell{Observed: verdict.Unknown, Expected: verdict.Broken}, lab.Cell{Expected: verdict.Broken}
	bounded := lab.Cell{Observed: verdict.Unknown, Expected: verdict.Unknown}
	for _, c := range []struct {
		name  string
		want  int
		cells []lab.Cell
	}{
		{"all as expected", 0, []lab.Cell{good, notRun, bounded}},
		{"one unexpected", 1, []lab.Cell{unsaid, good, bad, bounded}},
		{"one without a verdict", 2, []lab.Cell{good, unsaid}},
	} {
		t.Run(c.name, func(t *testing.T) {
			row := map[string]lab.Cell{}
			for i, cell := range c.cells {
				row[string(rune('a'+i))] = cell
			}
			if code := (lab.Matrix{Cells: map[string]map[string]lab.Cell{"x": row}}).ExitCode(); code != c.want {
				t.Errorf("exit code %d of %v; want %d", code, c.cells, c.want)
			}
		})
	}
}

// Every page shows a cell whose observed verdict differs from the expected one, also after the matrix has been encoded and decoded as JSON.
func TestMatrixShowsUnexpectedCells(t *testing.T) {
	observed := func(in language.Language) lab.Matrix {
		m := lab.ExpectedMatrix(in)
		cell := m.Cells["foreign-delete"]["v2"]
		cell.Observed = verdict.Holds
		m.Cells["foreign-delete"]["v2"] = cell
		return m
	}
	document, err := json.Marshal(observed(language.English))
	if err != nil {
		t.Fatal(err)
	}
	var m lab.Matrix
	if err := json.Unmarshal(document, &m); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ page, want string }{
		"page":         {m.HTML("lockstep"), "foreign-delete, v2: holds, expected: broken"},
		"Chinese page": {observed(language.Chinese).HTML("lockstep"), "foreign-delete, v2：不会发生，预期：会发生"},
		"summary":      {m.Summary(), "1 not as expected"},
		"line":         {m.Line("foreign-delete"), "✓!"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(test.page, test.want) {
				t.Errorf("%q is not in\n%s", test.want, test.page)
			}
		})
	}
}

// The page for a browser is one file that needs no script and no other file.
func TestMatrixPageIsOneFile(t *testing.T) {
	m := lab.ExpectedMatrix(language.English)
	page := m.HTML("go run .")
	for _, foreign := range []string{"<script", "src=", "href=", "@import", "url(", "//"} {
		if strings.Contains(page, foreign) {
			t.Errorf("the page has %s", foreign)
		}
	}
	if cells, want := strings.Count(page, "<details name="), len(m.Anomalies)*len(m.Strategies); cells != want {
		t.Errorf("%d cells can be opened; want %d", cells, want)
	}
	if !strings.Contains(page, "<code>go run . lab foreign-delete --lock v2</code>") || !strings.Contains(page, "another&#39;s") {
		t.Error("a cell does not say how it is seen, or why")
	}
}
