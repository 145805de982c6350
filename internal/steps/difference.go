package steps

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// Line is a line of a file before or after a step.
type Line struct {
	Kind string `json:"kind"` // Same, Removed or Added
	Text string `json:"text"`
	Mark [2]int `json:"mark"` // range of characters that differ from the other version of the line; empty: none

	before string // text of a Same line before the step, which may be indented differently
}

// The kinds of lines.
const (
	Same    = " " // unchanged, except perhaps in its indentation
	Removed = "-" // only before the step
	Added   = "+" // only after the step
)

// difference returns the lines of both texts in reading order. A line is Same even if its indentation changes.
func difference(before, after string) []Line {
	oldLines, newLines := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	oldText, newText := withoutIndentation(oldLines), withoutIndentation(newLines)
	// With this much context, all lines are in one hunk.
	unified, err := udiff.ToUnifiedDiff("", "", oldText, udiff.Lines(oldText, newText), len(oldLines))
	if err != nil {
		panic(err) // The edits are always valid, because they were made for this text.
	}
	lines := []Line{}
	for _, hunk := range unified.Hunks {
		for _, line := range hunk.Lines {
			next := Line{Kind: Same}
			if line.Kind != udiff.Insert {
				next.Kind, next.Text, oldLines = Removed, strings.TrimSuffix(oldLines[0], "\n"), oldLines[1:]
				next.before = next.Text
			}
			if line.Kind != udiff.Delete {
				next.Kind, next.Text, newLines = Added, strings.TrimSuffix(newLines[0], "\n"), newLines[1:]
			}
			if line.Kind == udiff.Equal {
				next.Kind = Same
			}
			lines = append(lines, next)
		}
	}
	for _, change := range changes(lines) {
		for _, pair := range change.pairs() {
			mark(pair[0], pair[1])
		}
	}
	return lines
}

// withoutIndentation joins lines without the white space that gofmt chooses: indentation and alignment.
func withoutIndentation(lines []string) string {
	var all strings.Builder
	for _, line := range lines {
		all.WriteString(strings.Join(strings.Fields(line), " "))
		if strings.HasSuffix(line, "\n") {
			all.WriteByte('\n')
		}
	}
	return all.String()
}

// change has the removed and the added lines between two unchanged lines.
type change struct{ removed, added []*Line }

// changes returns the changes in lines. Their pointers point into lines.
func changes(lines []Line) (all []change) {
	var current change
	for i := range lines {
		switch line := &lines[i]; line.Kind {
		case Removed:
			current.removed = append(current.removed, line)
		case Added:
			current.added = append(current.added, line)
		default:
			all, current = append(all, current), change{}
		}
	}
	return append(all, current)
}

// minCommonPercent is the smallest share of common characters with which two lines count as versions of the same line. With less than
// half, more of the line is new than old.
const minCommonPercent = 50

// pairs matches removed lines with their new versions among the added lines. It chooses the pairs that have the most characters in common,
// and that keep the order of both texts.
func (c change) pairs() (all [][2]*Line) {
	best := make([][]int, len(c.removed)+1) // best[i][j]: greatest total likeness of pairs from removed[i] and added[j] on
	for i := range best {
		best[i] = make([]int, len(c.added)+1)
	}
	likeness := func(i, j int) int {
		same, length := commonLength(c.removed[i].Text, c.added[j].Text), longerLength(c.removed[i].Text, c.added[j].Text)
		if 100*same >= minCommonPercent*length {
			return same
		}
		return 0
	}
	for i := len(c.removed) - 1; i >= 0; i-- {
		for j := len(c.added) - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1], best[i+1][j+1]+likeness(i, j))
		}
	}
	for i, j := 0, 0; i < len(c.removed) && j < len(c.added); {
		switch like := likeness(i, j); {
		case like > 0 && best[i][j] == best[i+1][j+1]+like:
			all = append(all, [2]*Line{c.removed[i], c.added[j]})
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return all
}

// wordPattern matches the units of the comparison: words of code, and single other characters.
var wordPattern = regexp.MustCompile(`\w+|.`)

// commonEnds returns the numbers of words that two lines have in common at the beginning, and at the end of the rest.
func commonEnds(one, other []string) (first, last int) {
	shorter := min(len(one), len(other))
	for first < shorter && one[first] == other[first] {
		first++
	}
	for last < shorter-first && one[len(one)-1-last] == other[len(other)-1-last] {
		last++
	}
	return first, last
}

// wordsOf splits a line into the units of the comparison.
func wordsOf(line string) []string { return wordPattern.FindAllString(line, -1) }

// length returns the number of characters of words.
func length(words []string) int { return utf8.RuneCountInString(strings.Join(words, "")) }

// commonLength returns the number of characters, without indentation, that two lines have in common at both ends.
func commonLength(one, other string) int {
	a, b := wordsOf(strings.TrimSpace(one)), wordsOf(strings.TrimSpace(other))
	first, last := commonEnds(a, b)
	return length(a[:first]) + length(a[len(a)-last:])
}

// longerLength returns the length of the longer line, without indentation.
func longerLength(one, other string) int {
	return max(utf8.RuneCountInString(strings.TrimSpace(one)), utf8.RuneCountInString(strings.TrimSpace(other)))
}

// mark sets Mark in the two versions of a line.
func mark(removed, added *Line) {
	a, b := wordsOf(removed.Text), wordsOf(added.Text)
	first, last := commonEnds(a, b)
	removed.Mark = [2]int{length(a[:first]), length(a[:len(a)-last])}
	added.Mark = [2]int{length(b[:first]), length(b[:len(b)-last])}
}

// row has two lines side by side: before and after the step. nil: that half is empty.
type row [2]*Line

// sideBySide arranges lines in rows, each changed line beside its other version.
func sideBySide(lines []Line) (all []row) {
	for i := 0; i < len(lines); {
		if lines[i].Kind == Same {
			all = append(all, row{&Line{Kind: Same, Text: lines[i].before}, &lines[i]})
			i++
			continue
		}
		n := slices.IndexFunc(lines[i:], func(line Line) bool { return line.Kind == Same })
		if n < 0 {
			n = len(lines) - i
		}
		all = append(all, changes(lines[i : i+n])[0].rows()...)
		i += n
	}
	return all
}

// rows arranges the lines of a change in rows. The lines of a pair are in one row; lines between two pairs keep their order.
func (c change) rows() (all []row) {
	removed, added := c.removed, c.added
	for _, pair := range append(c.pairs(), [2]*Line{}) {
		i, j := slices.Index(removed, pair[0]), slices.Index(added, pair[1])
		if pair[0] == nil {
			i, j = len(removed), len(added)
		}
		for k := range max(i, j) {
			all = append(all, row{lineAt(removed[:i], k), lineAt(added[:j], k)})
		}
		if pair[0] != nil {
			all, removed, added = append(all, row(pair)), removed[i+1:], added[j+1:]
		}
	}
	return all
}

// lineAt returns the line with index i; nil if there is none.
func lineAt(lines []*Line, i int) *Line {
	if i < len(lines) {
		return lines[i]
	}
	return nil
}
