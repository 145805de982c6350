package course_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"lockstep/docs"
	"lockstep/internal/course"
	"lockstep/internal/language"
)

const lesson = `# 1. A title

[中文](01-a.zh-CN.md) · [All lessons](README.md)

The idea.

## Predict

What will it be?

1. One.
2. Two.

## Run

` + "<!-- exits 1 -->\n```sh\ngo run . explore v0 --replay \"A:GET B:GET\"\n```" + `

## See

<!-- lockstep explore v0 --replay "A:GET B:GET" -->
` + "```text\nprinted\n```" + `

## Explain

The answer is **2**. Because.

## In the scheduler's seat

With ` + "`go run .`" + ` in another terminal, open [it](http://127.0.0.1:8080/#/schedule/v0?in=--actors+2&do=A%3AGET). Stop there.

## Try

More.

## Still broken

Much.

Next: [Another](02-b.md)
`

func parsed(t *testing.T, text string) (course.Lesson, error) {
	t.Helper()
	lessons, err := course.Lessons(fstest.MapFS{
		"01-a.md": {Data: []byte(text)}, "README.md": {Data: []byte("# The course")}, "01-a.zh-CN.md": {Data: []byte("not asked for")},
	}, language.English)
	if err != nil {
		return course.Lesson{}, err
	}
	return lessons[0], nil
}

func TestLessonIsParsed(t *testing.T) {
	l, err := parsed(t, lesson)
	if err != nil {
		t.Fatal(err)
	}
	text := func(place int) string { return l.Sections[place].Text }
	if l.Number != 1 || l.Name != "a" || l.Title != "A title" || l.Idea != "The idea." || text(course.Predict) != "What will it be?" ||
		!slices.Equal(l.Choices, []string{"One.", "Two."}) || l.Answer != 2 || l.Run != `explore v0 --replay "A:GET B:GET"` ||
		l.Seen != "printed\n" || text(course.Explain) != "Because." || l.Link != "#/schedule/v0?in=--actors+2&do=A%3AGET" ||
		text(course.Try) != "More." || text(course.Broken) != "Much." || l.Sections[course.Seat].Heading != "In the scheduler's seat" {
		t.Errorf("%+v", l)
	}
}

// The error for a lesson of another form names the missing part.
func TestLessonOfAnotherForm(t *testing.T) {
	for old, missing := range map[string]string{
		"# 1. A title":                        "NUMBER. TITLE",
		"The idea.":                           "an idea",
		"What will it be?":                    "a question",
		"2. Two.\n":                           "two choices",
		"go run . explore":                    "a command",
		"printed\n":                           "the output",
		"The answer is **2**":                 "an answer",
		"Because.":                            "a reason",
		"http://127.0.0.1:8080/#/sc":          "a link into the seat",
		"in another terminal, ":               "a link into the seat", // the page would ask for one
		"More.":                               "something to try",
		"Much.\n\nNext: [Another](02-b.md)\n": "still broken",
		"## Try":                              "6 sections; want",
	} {
		_, err := parsed(t, strings.Replace(lesson, old, "", 1))
		if !errors.Is(err, course.ErrForm) || !strings.Contains(err.Error(), missing) {
			t.Errorf("without %q: %v; want %q", old, err, missing)
		}
	}
	for _, other := range []string{
		strings.Replace(lesson, "**2**", "**3**", 1), strings.Replace(lesson, "## Run", "## Walk", 1), strings.Replace(lesson, "# 1.", "# 2.", 1),
		strings.Replace(lesson, "<!-- lockstep explore v0", "<!-- lockstep explore v1", 1),
		strings.Replace(lesson, `"A:GET B:GET" -->`, `"A:GET B:GET" --lang zh -->`, 1),
	} {
		if _, err := parsed(t, other); !errors.Is(err, course.ErrForm) {
			t.Errorf("%v\n%s", err, other)
		}
	}
}

func TestPlain(t *testing.T) {
	for markdown, want := range map[string]string{
		"A [link](01-a.md), **bold** and *lean* `code`.":        "A link, bold and lean code.",
		"Open [it](http://127.0.0.1:8080/#/x).":                 "Open it (http://127.0.0.1:8080/#/x).",
		"from <!-- v1 share 1 -->0.5 to <!-- v2 share 1 -->0.6": "from 0.5 to 0.6",
		"```sh\ngo run . lab\n```\n\n<!-- a -->\nb":             "  go run . lab\n\nb",
		"one two three four five six seven eight nine te":       "one two three four five six seven\neight nine te",
		"一二三四五六七八九十一二三四五六七八九，十":                                 "一二三四五六七八九十一二三四五六七八\n九，十",
		"- a\n- b":                            "- a\n- b",
		"| `a*b` | c |\n|---|---|\n| d | e |": "| a*b | c |\n|---|---|\n| d | e |",
		"**Of `v8`.** | a |":                  "Of v8. | a |",
		"|  | a |\n|---|---|\n| d |  |":       "| | a |\n|---|---|\n| d | |",
		"1. a\n2. b\n\nc **d\ne** f":          "1. a\n2. b\n\nc d\ne f",
	} {
		if got := course.Plain(markdown, 36); got != want {
			t.Errorf("%q\nis\n%q; want\n%q", markdown, got, want)
		}
	}
}

// If progress cannot be written, the course says so after the lesson, and continues.
func TestCourseWhereNothingCanBeWritten(t *testing.T) {
	var out strings.Builder
	pupil, err := course.NewPupil(filepath.Join(t.TempDir(), "gone"), course.Terminal{
		In: language.English, Out: &out, Columns: 80, Run: func(context.Context, []string) bool { return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan string, 3)
	answers <- "2" // the prediction
	answers <- ""  // goes on
	close(answers)
	if err := pupil.Take(t.Context(), answers, ""); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"Right: 2.", "was not saved: open ", "Lesson 2 of"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
}

// In a terminal the course pauses below the drawing and below the reason, because further output would scroll them away.
func TestCoursePausesInATerminal(t *testing.T) {
	const drawn, why, rest, seat = "[drawing]", "Press Enter for the reason", "Press Enter for things to try", "── In the"
	for typed, want := range map[string][]string{
		"2 q":     {drawn, why},
		"2 - q":   {drawn, why, rest},
		"2 - - q": {drawn, why, rest, seat},
	} {
		var out strings.Builder
		pupil, err := course.NewPupil(t.TempDir(), course.Terminal{
			In: language.English, Out: &out, Columns: 80, Echoes: true,
			Run: func(context.Context, []string) bool { out.WriteString(drawn); return true },
		})
		if err != nil {
			t.Fatal(err)
		}
		answers := make(chan string, 4)
		for answer := range strings.FieldsSeq(typed) {
			answers <- strings.Trim(answer, "-")
		}
		close(answers)
		if err := pupil.Take(t.Context(), answers, ""); err != nil {
			t.Error(err)
		}
		output, offset := out.String(), 0
		for _, part := range []string{drawn, why, rest, seat} {
			i := strings.Index(output[offset:], part)
			if (i >= 0) != slices.Contains(want, part) {
				t.Errorf("%s: after %d letters it says %q at %d; want %q\n%s", typed, offset, part, i, want, output)
			}
			offset += max(i, 0)
		}
	}
}

func TestArguments(t *testing.T) {
	got := course.Arguments(`explore v0  --replay "A:GET B:GET" --why`)
	if want := []string{"explore", "v0", "--replay", "A:GET B:GET", "--why"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// The page can run every command of every lesson, or knows its topic; and no command is lost.
func TestEachCommandIsRead(t *testing.T) {
	for _, in := range language.All() {
		lessons, err := course.Lessons(docs.Course(), in)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[course.Kind]int{}
		for _, l := range lessons {
			text, err := fs.ReadFile(docs.Course(), l.File)
			if err != nil {
				t.Fatal(err)
			}
			typed, read, parts := strings.Count(string(text), "\ngo run . "), 0, slices.Clone(l.Opening)
			for _, section := range l.Sections {
				parts = append(parts, section.Parts...)
			}
			for _, part := range parts {
				read += len(part.Commands)
				for _, c := range part.Commands {
					kinds[c.Kind]++
					if shows := strings.Contains(part.Printed, "│") || c.Kind == course.KindContrast; shows && c.Schedule == "" {
						t.Errorf("%s: what does %s show?", l.File, c.Line)
					}
				}
				for _, mine := range []string{"another terminal", "另一个终端", "or in the terminal", "或在终端里", "exit status"} {
					if strings.Contains(part.Text, mine) && !part.Terminal {
						t.Errorf("%s: a page would say: %s", l.File, part.Text)
					}
				}
			}
			if read != typed || len(l.Opening) == 0 {
				t.Errorf("%s: %d commands are read of %d", l.File, read, typed)
			}
		}
		for kind, least := range map[course.Kind]int{
			course.KindExplore: 20, course.KindReplay: 2, course.KindContrast: 3, course.KindTable: 1, course.KindDiff: 10, course.KindLab: 9,
			course.KindCheck: 13, course.KindBurst: 1,
		} {
			if kinds[kind] < least {
				t.Errorf("%s: %d commands of the kind %s; want %d", in, kinds[kind], kind, least)
			}
		}
	}
}

func TestParseCommand(t *testing.T) {
	for line, want := range map[string]course.Command{
		"explore v2 --faults expiry=1 --anomaly untold --lang zh": {
			Kind: course.KindExplore, Lock: "v2", Scenario: "--faults expiry=1", Anomaly: "untold",
		},
		`explore v11 --sales 2 --actors 1 --replay "A:begins A:acquire"`: {
			Kind: course.KindReplay, Lock: "v11", Scenario: "--actors 1 --sales 2", Schedule: "A:begins A:acquire",
		},
		"explore v4 --nested 1 --against v5": {Kind: course.KindContrast, Lock: "v4", Other: "v5", Scenario: "--nested 1"},
		"explore --all":                      {Kind: course.KindTable},
		"diff v4 delex":                      {Kind: course.KindDiff, Lock: "v4", Other: "delex"},
		"lab holder-dies --lang zh":          {Kind: course.KindLab, Name: "holder-dies"},
		"check 02":                           {Kind: course.KindCheck, Name: "02"},
		"burst -n 1000 -c 1000 --lock v0":    {Kind: course.KindBurst, Lock: "v0", Buyers: 1000},
		"explore v99":                        {},
		"explore v0 --faults flood=1":        {},
		"explore v0 --anomaly bad-luck":      {},
		"explore v0 --schedules 5":           {},
		"explore v0 v1":                      {},
		"explore":                            {},
		"explore v0 --all":                   {},
		"explore v1 --faults node-restart=1": {},
		"explore v0 --against v98":           {},
		"burst --lock v0":                    {},
		"diff v4":                            {},
		"lab":                                {},
		"lab holder-dies --lock v3":          {},
		"soak":                               {},
		"":                                   {},
	} {
		got, err := course.ParseCommand(line)
		if want.Kind == "" {
			if !errors.Is(err, course.ErrForm) {
				t.Errorf("%q: %+v, %v; want ErrForm", line, got, err)
			}
			continue
		}
		if want.Line = line; err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", line, got, err, want)
		}
	}
}

const parts = `Prose.

<!-- terminal -->
You need Go.

More prose.

Run it:

<!-- exits 1 -->
` + "```sh\ngo run . explore v0\n```" + `

<!-- lockstep explore v0 -->
` + "```text\n│ drawn\n\ngo run . explore v0 --replay \"A:GET\"\n```" + `

The whole step: [on the page](http://x/#/locks/v2), or in the terminal:

` + "```sh\ngo run . diff v1 v2\n```" + `

The end.
`

func TestParts(t *testing.T) {
	l, err := parsed(t, strings.Replace(lesson, "Because.", parts, 1))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, part := range l.Sections[course.Explain].Parts {
		for _, c := range part.Commands {
			part.Text += " " + c.Line + " " + c.Schedule
		}
		got = append(got, fmt.Sprintf("%s, terminal %v, printed %v", part.Text, part.Terminal, part.Printed != ""))
	}
	want := []string{
		"Prose., terminal false, printed false", "You need Go., terminal true, printed false", "More prose., terminal false, printed false",
		"Run it: explore v0 A:GET, terminal false, printed true", "The whole step diff v1 v2 , terminal false, printed false",
		"The end., terminal false, printed false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q; want\n%q", got, want)
	}
	if text := l.Sections[course.Seat].Parts[0].Text; text != "Stop there." {
		t.Errorf("the task is %q", text)
	}
	for _, wrong := range []string{
		"```sh\ngo run . soak\n```", "```sh\nls\n```", "```sh\ngo run . explore v2 --faults crash=1 --against v3\n```",
		"<!-- lockstep explore v0 -->\n```text\nprinted\n```",
	} {
		if _, err := parsed(t, strings.Replace(lesson, "More.", wrong, 1)); !errors.Is(err, course.ErrForm) {
			t.Errorf("%v\n%s", err, wrong)
		}
	}
}
