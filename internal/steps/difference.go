package steps

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// Line is one of a file.
type Line struct {
	Kind string `json:"kind"` // " " as it was, "-" only before, "+" only after
	Text string `json:"text"`
	Mark [2]int `json:"mark"` // the characters, from and to, that a changed line has in the place of others; none of a line that is new

	before string // what was in the place of a line that is the same, but for its indentation
}

// The kinds of lines.
const (
	Same    = " "
	Removed = "-"
	Added   = "+"
)

// difference returns the lines of two texts, in the order in which they are read. A line that is only indented otherwise is the same.
func difference(before, after string) []Line {
	was, is := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	old, now := unindented(was), unindented(is)
	unified, err := udiff.ToUnifiedDiff("", "", old, udiff.Lines(old, now), len(was)) // so much context that all lines are in one hunk
	if err != nil {
		panic(err) // these edits are those of this text
	}
	lines := []Line{}
	for _, hunk := range unified.Hunks {
		for _, line := range hunk.Lines {
			next := Line{Kind: Same}
			if line.Kind != udiff.Insert {
				next.Kind, next.Text, was = Removed, strings.TrimSuffix(was[0], "\n"), was[1:]
				next.before = next.Text
			}
			if line.Kind != udiff.Delete {
				next.Kind, next.Text, is = Added, strings.TrimSuffix(is[0], "\n"), is[1:]
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

// unindented joins lines without the space that gofmt chooses.
func unindented(lines []string) string {
	var all strings.Builder
	for _, line := range lines {
		all.WriteString(strings.Join(strings.Fields(line), " "))
		if strings.HasSuffix(line, "\n") {
			all.WriteByte('\n')
		}
	}
	return all.String()
}

// change is what stands between unchanged lines: some that go, and some that come.
type change struct{ removed, added []*Line }

// changes returns those of lines. What they point to are the lines themselves.
func changes(lines []Line) (all []change) {
	var now change
	for i := range lines {
		switch line := &lines[i]; line.Kind {
		case Removed:
			now.removed = append(now.removed, line)
		case Added:
			now.added = append(now.added, line)
		default:
			all, now = append(all, now), change{}
		}
	}
	return append(all, now)
}

// alike is how much of two lines is the same, if one has become the other: at least so many of a hundred characters.
const alike = 50

// pairs finds which line has become which: those that are most alike, without crossing each other.
func (c change) pairs() (all [][2]*Line) {
	most := make([][]int, len(c.removed)+1) // likeness of all pairs from here on
	for i := range most {
		most[i] = make([]int, len(c.added)+1)
	}
	likeness := func(i, j int) int {
		if same, of := common(c.removed[i].Text, c.added[j].Text), longer(c.removed[i].Text, c.added[j].Text); 100*same >= alike*of {
			return same
		}
		return 0
	}
	for i := len(c.removed) - 1; i >= 0; i-- {
		for j := len(c.added) - 1; j >= 0; j-- {
			most[i][j] = max(most[i+1][j], most[i][j+1], most[i+1][j+1]+likeness(i, j))
		}
	}
	for i, j := 0, 0; i < len(c.removed) && j < len(c.added); {
		switch like := likeness(i, j); {
		case like > 0 && most[i][j] == most[i+1][j+1]+like:
			all = append(all, [2]*Line{c.removed[i], c.added[j]})
			i, j = i+1, j+1
		case most[i][j] == most[i+1][j]:
			i++
		default:
			j++
		}
	}
	return all
}

var words = regexp.MustCompile(`\w+|.`)

// commonEnds returns how many words two lines begin with that are the same, and how many more they end with.
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

func wordsOf(line string) []string { return words.FindAllString(line, -1) }

func length(words []string) int { return utf8.RuneCountInString(strings.Join(words, "")) }

// common returns how many characters of code are the same at both ends of two lines.
func common(one, other string) int {
	a, b := wordsOf(strings.TrimSpace(one)), wordsOf(strings.TrimSpace(other))
	first, last := commonEnds(a, b)
	return length(a[:first]) + length(a[len(a)-last:])
}

func longer(one, other string) int {
	return max(utf8.RuneCountInString(strings.TrimSpace(one)), utf8.RuneCountInString(strings.TrimSpace(other)))
}

// mark marks in two lines what differs.
func mark(removed, added *Line) {
	a, b := wordsOf(removed.Text), wordsOf(added.Text)
	first, last := commonEnds(a, b)
	removed.Mark = [2]int{length(a[:first]), length(a[:len(a)-last])}
	added.Mark = [2]int{length(b[:first]), length(b[:len(b)-last])}
}

// row is two lines side by side; nil where there is none.
type row [2]*Line

// rows puts the lines that change beside those that they have become.
func rows(lines []Line) (all []row) {
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

// rows puts what goes and what comes side by side: pairs in one row, and between them as they come.
func (c change) rows() (all []row) {
	removed, added := c.removed, c.added
	for _, pair := range append(c.pairs(), [2]*Line{}) {
		i, j := slices.Index(removed, pair[0]), slices.Index(added, pair[1])
		if pair[0] == nil {
			i, j = len(removed), len(added)
		}
		for k := range max(i, j) {
			all = append(all, row{at(removed[:i], k), at(added[:j], k)})
		}
		if pair[0] != nil {
			all, removed, added = append(all, row(pair)), removed[i+1:], added[j+1:]
		}
	}
	return all
}

func at(lines []*Line, i int) *Line {
	if i < len(lines) {
		return lines[i]
	}
	return nil
}
