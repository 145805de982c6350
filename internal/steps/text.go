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

// Terminal is where a step is written as text.
type Terminal struct {
	Columns int    // 0: it is a pipe, whose lines stay as they are
	Colored bool   // as the reader wants it
	Typed   string // the program, as it was typed
	Lang    string // the flag of the language, as it was typed
}

const (
	context  = 3   // unchanged lines around a change
	tab      = 4   // columns
	beside   = 160 // columns from which on the lines before and after stand side by side
	dividing = " │ "
)

// The colors of a terminal.
const (
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	marked = ";7" // of what a changed line has in the place of something else
)

// Text writes a step: what it adds and where to see it, and then its lines; side by side, where there is room.
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
		fmt.Fprintln(b, "  "+t.Typed+" "+command+t.Lang) // not wrapped, so that it can be copied
	}
	for _, f := range d.Files {
		t.file(b, f, in)
	}
	fmt.Fprintf(b, "\n%s\n", d.total(in))
	return b.String()
}

// Stat writes how many lines of each file come and go.
func (d Detail) Stat(t Terminal, in language.Language) string {
	b := &strings.Builder{}
	fmt.Fprintln(b, t.paint(bold, d.heading(in)))
	widest := 0
	for _, f := range d.whole() {
		widest = max(widest, len(f.Name))
	}
	for _, f := range d.whole() {
		added, removed := fmt.Sprintf("%+4d", f.Added), fmt.Sprintf("%4s", fmt.Sprintf("−%d", f.Removed))
		line := fmt.Sprintf("  %-*s %s %s  %s", widest, f.Name, t.paint(green, added), t.paint(red, removed), f.Says)
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
	for _, gone := range d.Gone {
		fmt.Fprintln(b, gone)
	}
	fmt.Fprintln(b, d.total(in))
	return b.String()
}

// whole returns the files in which more changes than comments, with their heads' lines counted among their own.
func (d Detail) whole() (all []File) {
	for _, f := range d.Files {
		if i := slices.IndexFunc(all, func(one File) bool { return one.Name == f.Name }); i >= 0 {
			all[i].Added += f.Added
			all[i].Removed += f.Removed
		} else if f.Added+f.Removed > 0 {
			all = append(all, f)
		}
	}
	return all
}

// commands returns those that show the step.
func (d Detail) commands() (all []string) {
	if d.Lab != "" {
		all = append(all, "lab "+d.Lab)
	}
	explore := []string{"explore", d.Shown.Lock, d.Shown.Scenario, "--replay", strconv.Quote(d.Shown.Schedule)}
	if d.Shown.Beside != "" {
		explore = append(explore, "--against", d.Shown.Beside)
	}
	return append(all, strings.Join(slices.DeleteFunc(explore, func(word string) bool { return word == "" }), " "))
}

// file writes the lines of a file that are near a change.
func (t Terminal) file(b *strings.Builder, f File, in language.Language) {
	fmt.Fprintf(b, "\n%s", t.paint(bold, "── "+f.Name))
	for _, count := range f.counts() {
		color := green
		if strings.HasPrefix(count, "−") {
			color = red
		}
		fmt.Fprint(b, " "+t.paint(color, count))
	}
	if f.Says != "" {
		fmt.Fprintf(b, " · %s", f.Says)
	}
	fmt.Fprintln(b)
	split := t.Columns >= beside && !f.onlyAdds()
	for _, part := range folded(f.Lines) {
		switch {
		case part.hidden:
			fmt.Fprintln(b, t.paint(faint, "  ⋯ "+unchanged(len(part.lines), in)))
		case split:
			for _, row := range rows(part.lines) {
				t.row(b, row)
			}
		default:
			for _, line := range part.lines {
				for _, text := range t.line(&line, t.Columns) {
					fmt.Fprintln(b, strings.TrimRight(text, " "))
				}
			}
		}
	}
}

// counts says how many lines come and go, if any do.
func (f File) counts() (all []string) {
	if f.Added > 0 {
		all = append(all, fmt.Sprintf("+%d", f.Added))
	}
	if f.Removed > 0 {
		all = append(all, fmt.Sprintf("−%d", f.Removed))
	}
	return all
}

// onlyAdds reports whether nothing of the file was there before.
func (f File) onlyAdds() bool {
	for _, line := range f.Lines {
		if line.Kind != Added {
			return false
		}
	}
	return true
}

// part is lines that are shown, or are hidden, as nothing changes near them.
type part struct {
	hidden bool
	lines  []Line
}

// folded hides what is far from every change.
func folded(lines []Line) (all []part) {
	near := make([]bool, len(lines))
	for i, line := range lines {
		if line.Kind != Same {
			for j := max(0, i-context); j < min(len(lines), i+context+1); j++ {
				near[j] = true
			}
		}
	}
	for from, to := 0, 0; from < len(lines); from = to {
		for to < len(lines) && near[to] == near[from] {
			to++
		}
		hidden := !near[from] && to-from > 1 // one line is as long as what stands for it
		all = append(all, part{hidden, lines[from:to]})
	}
	return all
}

// row writes two lines side by side.
func (t Terminal) row(b *strings.Builder, r row) {
	width := (t.Columns - utf8.RuneCountInString(dividing)) / 2
	left, right := t.line(r[0], width), t.line(r[1], width)
	for i := range max(len(left), len(right)) {
		one, other := strings.Repeat(" ", width), ""
		if i < len(left) {
			one = left[i]
		}
		if i < len(right) {
			other = strings.TrimRight(right[i], " ")
		}
		fmt.Fprintln(b, one+t.paint(faint, dividing)+other)
	}
}

// line returns a line in pieces of so many columns, each filled up; 0 columns: as it is. A piece that goes on begins a little further in.
func (t Terminal) line(l *Line, columns int) (pieces []string) {
	if l == nil {
		return nil
	}
	color := map[string]string{Removed: red, Added: green}[l.Kind]
	if columns == 0 {
		return []string{t.paint(color, l.Kind+l.Text)}
	}
	text, mark := expanded(*l)
	room := max(columns-2, 2*tab) // after the sign
	further := min(indent(text)+tab, room/2)
	signs := map[string][2]string{Removed: {"− ", "−…"}, Added: {"+ ", "+…"}, Same: {"  ", " …"}}[l.Kind]
	sign := signs[0]
	for from, lead := 0, 0; ; sign, lead = signs[1], further {
		to := from + fits(text[from:], room-lead)
		first, last := min(max(mark[0], from), to), min(max(mark[1], from), to)
		pieces = append(pieces, t.paint(color, sign+strings.Repeat(" ", lead)+string(text[from:first]))+
			t.paint(color+marked, string(text[first:last]))+t.paint(color, string(text[last:to]))+
			strings.Repeat(" ", room-lead-(to-from)))
		from = to + indent(text[to:])
		if from == len(text) {
			return pieces
		}
	}
}

// expanded returns a line with spaces for the tabs that it begins with.
func expanded(l Line) (text []rune, mark [2]int) {
	code := strings.TrimLeft(l.Text, "\t")
	tabs := len(l.Text) - len(code)
	for i, at := range l.Mark {
		mark[i] = at + min(at, tabs)*(tab-1)
	}
	text = []rune(strings.Repeat(" ", tabs*tab) + code)
	if mark[0] == mark[1] {
		mark = [2]int{len(text), len(text)} // no part of the line but its end
	}
	return text, mark
}

// indent returns how many spaces a text begins with.
func indent(text []rune) int {
	for i, sign := range text {
		if sign != ' ' {
			return i
		}
	}
	return len(text)
}

// fits returns how many characters go into a line: all, or those up to the last space that is in the room.
func fits(text []rune, room int) int {
	if len(text) <= room {
		return len(text)
	}
	for i := room; i > max(room/2, indent(text)); i-- {
		if text[i] == ' ' {
			return i
		}
	}
	return max(room, 1)
}

// paint colors a text, for those who want it.
func (t Terminal) paint(color, text string) string {
	if !t.Colored || color == "" || text == "" {
		return text
	}
	return "\033[" + color + "m" + text + "\033[0m"
}
