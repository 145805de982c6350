package course_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"lockstep/internal/language"
	"lockstep/internal/learn/course"
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

Open [it](http://127.0.0.1:8080/#/schedule/v0?in=--actors+2&do=A%3AGET).

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

// Whatever a lesson lacks is said.
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
		"`SET … NX` and a*b*c":                "SET … NX and a*b*c",
	} {
		if got := course.Plain(markdown, 36); got != want {
			t.Errorf("%q\nis\n%q; want\n%q", markdown, got, want)
		}
	}
}

// Where nothing can be written, the course says so after the lesson, and goes on.
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
	for _, want := range []string{"Right: 2.", "not written down: open ", "Lesson 2 of"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
}

func TestArguments(t *testing.T) {
	got := course.Arguments(`explore v0  --replay "A:GET B:GET" --why`)
	if want := []string{"explore", "v0", "--replay", "A:GET B:GET", "--why"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}
