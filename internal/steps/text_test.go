package steps

import (
	"strings"
	"testing"
	"unicode/utf8"

	"lockstep/internal/language"
)

const (
	before = "func a() {\n\tone(1, 2)\n\tsame()\n}\n"
	after  = "func a() {\n\tzero()\n\tone(1, 22)\n\tif so() {\n\t\tsame()\n\t}\n}\n"
)

// shownAs returns the difference of two texts, without its heading.
func shownAs(t Terminal, before, after string) string {
	d := Detail{Files: []File{pair{path: "a.go", before: before, after: after}.diff(language.English)}}
	_, lines, _ := strings.Cut(d.Text(t, language.English), "── ")
	lines, _, _ = strings.Cut(lines, "\n\n")
	return lines
}

// The text of a difference fits a pipe, a terminal and a wide terminal. Lines that differ only in indentation are equal.
func TestTextFitsOutput(t *testing.T) {
	for _, c := range []struct {
		name string
		Terminal
		want string
	}{
		{"pipe", Terminal{}, `a.go +4 −1
 func a() {
-	one(1, 2)
+	zero()
+	one(1, 22)
+	if so() {
 		same()
+	}
 }`},
		{"terminal", Terminal{Columns: 80}, `a.go +4 −1
  func a() {
−     one(1, 2)
+     zero()
+     one(1, 22)
+     if so() {
          same()
+     }
  }`},
		{"narrow", Terminal{Columns: 14}, `a.go +4 −1
  func a() {
−     one(1,
−…      2)
+     zero()
+     one(1,
+…      22)
+     if so()
+…      {
          same
 …      ()
+     }
  }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if have := shownAs(c.Terminal, before, after); have != c.want {
				t.Errorf("it is\n%s\nwant\n%s", have, c.want)
			}
		})
	}
}

// In a wide enough terminal, the old and the new form of a line share a row, each half as wide as the terminal.
func TestWideTextIsSideBySide(t *testing.T) {
	rows := strings.Split(shownAs(Terminal{Columns: minSplitColumns}, before, after), "\n")[1:]
	for i, want := range [][2]string{
		{"  func a() {", "  func a() {"},
		{"", "+     zero()"},
		{"−     one(1, 2)", "+     one(1, 22)"},
		{"", "+     if so() {"},
		{"      same()", "          same()"},
		{"", "+     }"},
		{"  }", "  }"},
	} {
		left, right, ok := strings.Cut(rows[i], divider)
		if !ok || strings.TrimRight(left, " ") != want[0] || right != want[1] || utf8.RuneCountInString(left) != (minSplitColumns-3)/2 {
			t.Errorf("row %d is %q; want %q", i, rows[i], want)
		}
	}
	if below := shownAs(Terminal{Columns: minSplitColumns - 1}, before, after); strings.Contains(below, divider) {
		t.Errorf("with a column less it is side by side:\n%s", below)
	}
	whole := shownAs(Terminal{Columns: minSplitColumns}, "", after)
	if strings.Contains(whole, divider) || !strings.Contains(whole, "a.go +7 · new\n+ func a() {") {
		t.Errorf("a new file has another one minSplitColumns it:\n%s", whole)
	}
}

// No line is wider than the terminal, and none is lost.
func TestTextWrapsLongLines(t *testing.T) {
	const long = "\t\treturn lock.NewLease(ctx, l.opts.Clock, token, func(ctx context.Context) error { return l.unlock(ctx, owner) })\n"
	for _, columns := range []int{1, 10, 40, 79, minSplitColumns, 200} {
		shown := shownAs(Terminal{Columns: columns}, long, strings.ReplaceAll(long, "token", "0"))
		for line := range strings.SplitSeq(shown, "\n") {
			if utf8.RuneCountInString(line) > max(columns, 2*tabWidth+2, len("a.go +1 −1")) {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
		if columns < minSplitColumns {
			letters := strings.NewReplacer(" ", "", "\n+…", "", "\n−…", "", "\t", "").Replace(shown)
			if !strings.Contains(letters, strings.NewReplacer(" ", "", "\t", "", "\n", "").Replace(long)) {
				t.Errorf("%d columns lose a part:\n%s", columns, shown)
			}
		}
	}
}

// Colors show which lines come and go, and in a changed line what has changed.
func TestColorsMarkChanges(t *testing.T) {
	have := shownAs(Terminal{Columns: 80, Colored: true}, before, after)
	for _, want := range []string{
		"\033[31m−     one(1, \033[0m\033[31;7m2\033[0m\033[31m)\033[0m", "\033[32;7m22\033[0m", "\033[32m+     zero()\033[0m",
	} {
		if !strings.Contains(have, want) {
			t.Errorf("there is no %q in\n%q", want, have)
		}
	}
}

// Lines far from a change are counted and not shown.
func TestDistantLinesAreHidden(t *testing.T) {
	far := strings.Repeat("far()\n", 9)
	if have := shownAs(Terminal{}, far+"a()\n", far+"b()\n"); !strings.HasPrefix(have, "a.go +1 −1\n  ⋯ 6 unchanged lines\n far()\n") ||
		strings.Count(have, "far") != contextLines {
		t.Errorf("%s", have)
	}
}

// Comments and blank lines are shown, and do not count; neither does a comment that ends a line.
func TestCommentsDoNotCount(t *testing.T) {
	f := pair{
		before: "// a\na() // one\n\nb()\n-- c\n",
		after:  "// b\n\n\na()   // two\nb(http://x)\nreturn 1 -- why\n",
	}.diff(language.English)
	if f.Added != 2 || f.Removed != 1 {
		t.Errorf("+%d −%d; want +2 −1", f.Added, f.Removed)
	}
}

// The text is translated, and the code is the same in both languages. The total counts the lines of a file's head with those of its code.
func TestTextIsTranslated(t *testing.T) {
	for in, want := range map[language.Language][]string{
		language.English: {
			"v4 → v5: reentrant hash\n", "Adds: owner and count", "Flaw of v4: ", "No longer sent: compareAndDelete.lua", " · new\n",
			" · package comment, imports\n", "  go run . lab self-deadlock --lang en\n",
			"Measured: one buyer: 0.", "34 changed lines (+26 −8), comments and blank lines left out.",
		},
		language.Chinese: {
			"v4 → v5：可重入（哈希）\n", "加了：哈希里存", "v4 的缺陷：", "不再发送：compareAndDelete.lua", " · 新文件\n",
			" · 包注释、import\n", "  go run . lab self-deadlock --lang zh\n",
			"实测：单个买家：吞吐量是上限的 0.", "改动 34 行（+26 −8），注释和空行不计。",
		},
	} {
		d, err := Find("v4-v5", in)
		if err != nil {
			t.Fatal(err)
		}
		text := d.Text(Terminal{Typed: "go run .", Lang: " --lang " + string(in)}, in)
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: there is no %q in\n%s", in, part, text)
			}
		}
		if stat := d.Stat(Terminal{}, in); !strings.HasSuffix(stat, want[len(want)-1]+"\n") || !strings.Contains(stat, "lock.go     +5   −6\n") {
			t.Errorf("%s", stat)
		}
		page := d.HTML("go run .", in)
		for _, part := range []string{want[1], want[3], "<ins style=", "<mark>", "go run . lab self-deadlock", "<html lang=\"" + string(in)} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: the page has no %q", in, part)
			}
		}
		if strings.Contains(page, "<script") || strings.Contains(page, "://") {
			t.Errorf("the page needs more than itself:\n%s", page)
		}
	}
}
