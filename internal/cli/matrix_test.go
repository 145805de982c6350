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

func TestMatrixRefuses(t *testing.T) {
	refuses(t, true, map[string]string{
		"matrix --lang xx":             "it takes en or zh",
		"matrix --lock.ttl 1s":         "matrix takes no settings",
		"matrix --beside 0":            "want at least 1",
		"matrix --html /no/such/place": "no such",
		"matrix v2":                    "v2",
	})
}

var back = regexp.MustCompile(`^\x1b\[(\d+)A\r\x1b\[J`)

// screen is what is left of an output in a terminal that understands the two sequences of matrixProgress.
func screen(output string) (lines []string) {
	for line := range strings.Lines(output) {
		if up := back.FindStringSubmatch(line); up != nil {
			n, _ := strconv.Atoi(up[1])
			lines = lines[:len(lines)-n]
			line = line[len(up[0]):]
		}
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	return lines
}

// However the cells come in, the whole table is on the screen in the end, each row once. While they come in, few rows are drawn again.
func TestMatrixRedrawsRowsInTerminal(t *testing.T) {
	want := lab.Expected(language.English)
	toRun, empty := map[string]int{}, lab.Expected(language.English)
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
	for i := range want.Anomalies { // the first row is finished last
		name := want.Anomalies[last-i].Name
		for _, s := range want.Strategies {
			if c := want.Cells[name][s]; c.Expected != verdict.NA {
				shown.update(lab.CellEvent{Anomaly: name, Strategy: s})
				shown.update(lab.CellEvent{Anomaly: name, Strategy: s, Ended: true, Cell: c})
			}
		}
		if shown.drawn > maxOpenRows {
			t.Fatalf("%d rows are drawn again and again", shown.drawn)
		}
	}
	shown.end()
	var lines []string
	for _, a := range want.Anomalies {
		lines = append(lines, want.Line(a.Name))
	}
	if got, want := strings.Join(screen(out.String()), "\n"), want.Head()+strings.Join(lines, "\n"); got != want {
		t.Errorf("on the screen is\n%s\nwant\n%s", got, want)
	}
}

// Without a terminal, each cell has a line, and the table comes at the end.
func TestMatrixPrintsLinesWithoutTerminal(t *testing.T) {
	m := lab.Expected(language.English)
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
