package cli

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lockstep/internal/lab"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

func TestMatrixRejectsWrongFlags(t *testing.T) {
	assertRefused(t, map[string]string{
		"matrix --lang xx":             "it takes en or zh",
		"matrix --lock.ttl 1s":         "matrix takes no settings",
		"matrix --beside 0":            "want at least 1",
		"matrix --html /no/such/place": "no such",
		"matrix v2":                    "v2",
	})
}

// cursorUp matches the sequence that moves the cursor up n lines and erases what follows.
var cursorUp = regexp.MustCompile(`^\x1b\[(\d+)A\r\x1b\[J`)

// renderTerminal returns the lines that a terminal shows after output. It interprets cursor-up and erase, which matrixProgress writes.
func renderTerminal(output string) (lines []string) {
	for line := range strings.Lines(output) {
		if up := cursorUp.FindStringSubmatch(line); up != nil {
			n, _ := strconv.Atoi(up[1])
			lines = lines[:len(lines)-n]
			line = line[len(up[0]):]
		}
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	return lines
}

// In whatever order the cells finish, the terminal shows the whole table in the end, each row once. Meanwhile only a few rows are redrawn.
func TestMatrixRedrawsRowsInTerminal(t *testing.T) {
	want := lab.ExpectedMatrix(language.English)
	toRun, empty := map[string]int{}, lab.ExpectedMatrix(language.English)
	for _, a := range empty.Anomalies {
		for s, c := range empty.Cells[a.Name] {
			if c.Expected != verdict.NA {
				c.Observed = ""
				toRun[a.Name]++
			}
			empty.Cells[a.Name][s] = c
		}
	}
	var out bytes.Buffer
	shown := newMatrixProgress(&out)
	shown.live = true
	shown.begin(empty, toRun)
	last := len(want.Anomalies) - 1
	for i := range want.Anomalies { // from the last row to the first
		name := want.Anomalies[last-i].Name
		for _, s := range want.Strategies {
			if c := want.Cells[name][s]; c.Expected != verdict.NA {
				shown.update(lab.CellEvent{Anomaly: name, Strategy: s})
				shown.update(lab.CellEvent{Anomaly: name, Strategy: s, Ended: true, Cell: c})
			}
		}
		if shown.drawn > maxOpenRows {
			t.Fatalf("%d rows are redrawn; want at most maxOpenRows", shown.drawn)
		}
	}
	shown.end()
	var lines []string
	for _, a := range want.Anomalies {
		lines = append(lines, want.Line(a.Name))
	}
	if got, want := strings.Join(renderTerminal(out.String()), "\n"), want.Head()+strings.Join(lines, "\n"); got != want {
		t.Errorf("the terminal shows\n%s\nwant\n%s", got, want)
	}
}

// Without a terminal, each finished cell prints one line, and the table comes at the end.
func TestMatrixPrintsLinesWithoutTerminal(t *testing.T) {
	m := lab.ExpectedMatrix(language.English)
	var out bytes.Buffer
	shown := newMatrixProgress(&out)
	shown.begin(m, map[string]int{"foreign-delete": 1})
	shown.update(lab.CellEvent{Anomaly: "foreign-delete", Strategy: "v2"})
	cell := m.Cells["foreign-delete"]["v2"]
	cell.Seconds, cell.Says = 1.5, "r1#1 removed r2#1's lock"
	shown.update(lab.CellEvent{Anomaly: "foreign-delete", Strategy: "v2", Ended: true, Cell: cell})
	shown.end()
	want := "foreign-delete, v2: broken (1.5 s): r1#1 removed r2#1's lock\n"
	if !strings.HasPrefix(out.String(), want) || !strings.HasSuffix(out.String(), fmt.Sprintln(m.Line("progress"))) {
		t.Errorf("%s", out.String())
	}
}
