package checkout

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
)

// The numbers of the steps are in internal/evolution/figures.json, where bench -steps writes them. The matrix, READMEs and lessons repeat
// them; go test ./internal/test/checkout -run Say -update writes them there.

var numbersTable = regexp.MustCompile(`(?s)(<!-- what each step gains -->\n).*?(<!-- end of what each step gains -->)`)

func TestMatricesSayWhatWasMeasured(t *testing.T) {
	for i, document := range []string{"docs/MATRIX.md", "docs/MATRIX.zh-CN.md"} {
		rewritten(t, document, numbersTable, 0, "${1}"+numbersOf(evolution.Measured(), language.All()[i])+"${2}")
	}
}

// shownInMatrix returns the numbers by which one chooses a lock; the page shows all.
func shownInMatrix() []evolution.Point {
	crowd := evolution.Condition{Buyers: 200, Processes: 3}
	return []evolution.Point{
		{Metric: evolution.Share, Condition: evolution.Alone()}, {Metric: evolution.Share, Condition: crowd},
		{Metric: evolution.Commands, Condition: crowd},
		{Metric: evolution.Wait, Condition: evolution.Condition{Buyers: 16, Processes: 3}},
	}
}

// numbersOf writes a row for each lock.
func numbersOf(f evolution.Figures, in language.Language) string {
	text := in.Say("| | alone | 200 buyers | commands a sale | longest wait |\n", "| | 单个买家 | 200 个买家 | 每单命令数 | 最长等待 |\n") +
		"|---|---|---|---|---|\n"
	for _, s := range evolution.Table() {
		row, measured := "| `"+s.Name+"` |", false
		for _, at := range shownInMatrix() {
			value := f.Value(s.Name, at)
			measured = measured || value != ""
			row += strings.TrimRight(" "+value, " ") + " |"
		}
		if measured {
			text += row + "\n"
		}
	}
	return text + in.Say("\n%s.\n", "\n%s。\n", f.Source(in))
}

// cited is a number that stands in a sentence, after a remark that says which: <!-- v10 share 200/3 -->0.97 is v10's share of the limit
// with 200 buyers in three processes.
var cited = regexp.MustCompile(`(<!-- (\w+) (share|commands|wait) (\d+)(?:/(\d+))? -->)(\d+(?:\.\d+)?)`)

// citing returns a document with the numbers that it cites as they were measured, and those that were not.
func citing(f evolution.Figures, document string) (now string, unknown []string) {
	now = cited.ReplaceAllStringFunc(document, func(one string) string {
		parts := cited.FindStringSubmatch(one)
		at := evolution.Point{Metric: evolution.Metric(parts[3]), Condition: evolution.Condition{Processes: 1}}
		at.Buyers, _ = strconv.Atoi(parts[4]) // they are digits
		if parts[5] != "" {
			at.Processes, _ = strconv.Atoi(parts[5])
		}
		value := f.Value(parts[2], at)
		if value == "" {
			unknown = append(unknown, parts[1])
			return one
		}
		return parts[1] + value
	})
	return now, unknown
}

func TestDocumentsSayWhatWasMeasured(t *testing.T) {
	for _, document := range documents() {
		text := read(t, document)
		now, unknown := citing(evolution.Measured(), text)
		if unknown != nil {
			t.Errorf("%s cites what was not measured: %v", document, unknown)
		}
		checkOrRewrite(t, document, text, now)
	}
}
