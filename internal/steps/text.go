package steps

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"lockstep/internal/language"
	"lockstep/internal/trace"
)

// Terminal is the terminal, or the pipe, to which a step is written.
type Terminal struct {
	Columns int    // width; 0: a pipe, whose lines are not wrapped
	Colored bool   // use colors
	Typed   string // name of the program as the reader typed it
	Lang    string // flag of the language as the reader typed it, with a space before it; "": none
}

const (
	contextLines    = 3     // number of unchanged lines shown before and after a change, as in diff -u
	tabWidth        = 4     // width of a tab in columns
	minSplitColumns = 160   // smallest width at which lines are shown side by side: two halves of 78 columns
	divider         = " │ " // text between two lines side by side
)

// The parameters of the ANSI escape sequences for colors.
const (
	bold         = "1"
	faint        = "2"
	red          = "31"
	green        = "32"
	markedSuffix = ";7" // reverse video, appended to a color for the part of a changed line that differs
)

// Text formats a step: what it adds, the commands that show it, and the changed lines. If the terminal is wide enough, the lines before and
// after the step are side by side.
func (d Detail) Text(t Terminal, in language.Language) string {
	b := &strings.Builder{}
	fmt.Fprintln(b, t.paint(bold, d.heading(in)))
	for _, text := range d.summary(in) {
		lines := []string{text}
		if t.Columns > 0 {
			lines = trace.Wrap(text, t.Columns, "  ")
		}
		fmt.Fprintln(b, strings.Join(lines, "\n"))
	}
	for _, command := range d.commands() {
		fmt.Fprintln(b, "  "+t.Typed+" "+command+t.Lang) // A command is not wrapped, so that it can be copied.
	}
	for _, f := range d.Files {
		t.writeFile(b, f, in)
	}
	fmt.Fprintf(b, "\n%s\n", d.totalText(in))
	return b.String()
}

// Stat formats a step as a table with the number of added and removed lines of each file.
func (d Detail) Stat(t Terminal, in language.Language) string {
	b := &strings.Builder{}
	fmt.Fprintln(b, t.paint(bold, d.heading(in)))
	widest := 0
	for _, f := range d.mergedFiles() {
		widest = max(widest, len(f.Name))
	}
	for _, f := range d.mergedFiles() {
		added, removed := fmt.Sprintf("%+4d", f.Added), fmt.Sprintf("%4s", fmt.Sprintf("−%d", f.Removed))
		line := fmt.Sprintf("  %-*s %s %s  %s", widest, f.Name, t.paint(green, added), t.paint(red, removed), f.Note)
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
	for _, sentence := range d.Removals {
		fmt.Fprintln(b, sentence)
	}
	fmt.Fprintln(b, d.totalText(in))
	return b.String()
}

// mergedFiles returns the files in which code changes. The counts of a file include the counts of its head.
func (d Detail) mergedFiles() (all []File) {
	for _, f := range d.Files {
		if i := slices.IndexFunc(all, func(other File) bool { return other.Name == f.Name }); i >= 0 {
			all[i].Added += f.Added
			all[i].Removed += f.Removed
		} else if f.Added+f.Removed > 0 {
			all = append(all, f)
		}
	}
	return all
}

// commands returns the arguments of the commands that show the step.
func (d Detail) commands() (all []string) {
	if d.Lab != "" {
		all = append(all, "lab "+d.Lab)
	}
	explore := []string{"explore", d.Demonstration.Lock, d.Demonstration.Scenario, "--replay", strconv.Quote(d.Demonstration.Schedule)}
	if d.Demonstration.Against != "" {
		explore = append(explore, "--against", d.Demonstration.Against)
	}
	return append(all, strings.Join(slices.DeleteFunc(explore, func(word string) bool { return word == "" }), " "))
}

// writeFile writes the lines of a file. Lines far from every change are folded.
func (t Terminal) writeFile(b *strings.Builder, f File, in language.Language) {
	fmt.Fprintf(b, "\n%s", t.paint(bold, "── "+f.Name))
	for _, count := range f.counts() {
		color := green
		if strings.HasPrefix(count, "−") {
			color = red
		}
		fmt.Fprint(b, " "+t.paint(color, count))
	}
	if f.Note != "" {
		fmt.Fprintf(b, " · %s", f.Note)
	}
	fmt.Fprintln(b)
	split := t.Columns >= minSplitColumns && !f.onlyAdds()
	for _, part := range fold(f.Lines) {
		switch {
		case part.hidden:
			fmt.Fprintln(b, t.paint(faint, "  ⋯ "+unchangedText(len(part.lines), in)))
		case split:
			for _, row := range sideBySide(part.lines) {
				t.writeRow(b, row)
			}
		default:
			for _, line := range part.lines {
				for _, text := range t.wrapLine(&line, t.Columns) {
					fmt.Fprintln(b, strings.TrimRight(text, " "))
				}
			}
		}
	}
}

// counts returns the numbers of added and removed lines as text, such as +3 and −1, without zeros.
func (f File) counts() (all []string) {
	if f.Added > 0 {
		all = append(all, fmt.Sprintf("+%d", f.Added))
	}
	if f.Removed > 0 {
		all = append(all, fmt.Sprintf("−%d", f.Removed))
	}
	return all
}

// onlyAdds reports whether every line of the file is new.
func (f File) onlyAdds() bool {
	for _, line := range f.Lines {
		if line.Kind != Added {
			return false
		}
	}
	return true
}

// part is a sequence of lines that are all shown, or all hidden because no line near them changes.
type part struct {
	hidden bool
	lines  []Line
}

// fold splits lines into parts, and hides the lines far from every change.
func fold(lines []Line) (all []part) {
	near := make([]bool, len(lines))
	for i, line := range lines {
		if line.Kind != Same {
			for j := max(0, i-contextLines); j < min(len(lines), i+contextLines+1); j++ {
				near[j] = true
			}
		}
	}
	for from, to := 0, 0; from < len(lines); from = to {
		for to < len(lines) && near[to] == near[from] {
			to++
		}
		hidden := !near[from] && to-from > 1 // Hiding a single line would save nothing.
		all = append(all, part{hidden, lines[from:to]})
	}
	return all
}

// writeRow writes two lines side by side.
func (t Terminal) writeRow(b *strings.Builder, r row) {
	width := (t.Columns - utf8.RuneCountInString(divider)) / 2
	left, right := t.wrapLine(r[0], width), t.wrapLine(r[1], width)
	for i := range max(len(left), len(right)) {
		leftText, rightText := strings.Repeat(" ", width), ""
		if i < len(left) {
			leftText = left[i]
		}
		if i < len(right) {
			rightText = strings.TrimRight(right[i], " ")
		}
		fmt.Fprintln(b, leftText+t.paint(faint, divider)+rightText)
	}
}

// wrapLine wraps a line into pieces, each padded to this number of columns. Pieces after the first are indented. With 0 columns, wrapLine
// returns the unwrapped line.
func (t Terminal) wrapLine(l *Line, columns int) (pieces []string) {
	if l == nil {
		return nil
	}
	color := map[string]string{Removed: red, Added: green}[l.Kind]
	if columns == 0 {
		return []string{t.paint(color, l.Kind+l.Text)}
	}
	text, mark := expandTabs(*l)
	width := max(columns-2, 2*tabWidth) // The sign takes two columns.
	hanging := min(indentation(text)+tabWidth, width/2)
	signs := map[string][2]string{Removed: {"− ", "−…"}, Added: {"+ ", "+…"}, Same: {"  ", " …"}}[l.Kind]
	sign := signs[0]
	for from, lead := 0, 0; ; sign, lead = signs[1], hanging {
		to := from + fittingLength(text[from:], width-lead)
		first, last := min(max(mark[0], from), to), min(max(mark[1], from), to)
		pieces = append(pieces, t.paint(color, sign+strings.Repeat(" ", lead)+string(text[from:first]))+
			t.paint(color+markedSuffix, string(text[first:last]))+t.paint(color, string(text[last:to]))+
			strings.Repeat(" ", width-lead-(to-from)))
		from = to + indentation(text[to:])
		if from == len(text) {
			return pieces
		}
	}
}

// expandTabs returns the text of a line with its leading tabs replaced by spaces, and the mark adapted to that.
func expandTabs(l Line) (text []rune, mark [2]int) {
	code := strings.TrimLeft(l.Text, "\t")
	tabs := len(l.Text) - len(code)
	for i, at := range l.Mark {
		mark[i] = at + min(at, tabs)*(tabWidth-1)
	}
	text = []rune(strings.Repeat(" ", tabs*tabWidth) + code)
	if mark[0] == mark[1] {
		mark = [2]int{len(text), len(text)} // An empty mark moves to the end, so that the line is not split.
	}
	return text, mark
}

// indentation returns the number of spaces at the beginning of a text.
func indentation(text []rune) int {
	for i, r := range text {
		if r != ' ' {
			return i
		}
	}
	return len(text)
}

// fittingLength returns the number of characters that fit into a line of this width: all of them, or those before the last space.
func fittingLength(text []rune, width int) int {
	if len(text) <= width {
		return len(text)
	}
	for i := width; i > max(width/2, indentation(text)); i-- {
		if text[i] == ' ' {
			return i
		}
	}
	return max(width, 1)
}

// paint colors a text if the terminal uses colors.
func (t Terminal) paint(color, text string) string {
	if !t.Colored || color == "" || text == "" {
		return text
	}
	return "\033[" + color + "m" + text + "\033[0m"
}
