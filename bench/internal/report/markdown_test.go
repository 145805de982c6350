package report

import (
	"strings"
	"testing"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
)

// The document says who was measured under fewer conditions, unless nobody was.
func TestWhoIsMeasuredLess(t *testing.T) {
	cell := func(name string, buyers int) result.Cell {
		return result.Cell{Contestant: name, Condition: result.Condition{AddedMillis: 1, Processes: 1, Buyers: buyers}, Status: result.OK}
	}
	for _, test := range []struct {
		cells []result.Cell
		less  bool
	}{
		{[]result.Cell{cell("v4", 200), cell("v4", 1000), cell("v1", 200)}, true},
		{[]result.Cell{cell("v4", 200), cell("v4", 1000), cell("v1", 200), cell("v1", 1000)}, false},
		{[]result.Cell{cell("v4", 200), cell("v4", 1000)}, false},
	} {
		var text strings.Builder
		if err := Markdown(&text, result.Run{Cells: test.cells, Command: "-seed 1"}, contestants.Table()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "neighbours (v1)\n"); got != test.less {
			t.Errorf("%+v: %v that v1 is measured less; want %v", test.cells, got, test.less)
		}
		if strings.Contains(text.String(), "%!") || !strings.Contains(text.String(), "go run . -seed 1\n") {
			t.Errorf("the end of the document:\n%s", text.String())
		}
	}
}
