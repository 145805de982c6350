package course

import (
	"fmt"
	"strconv"
	"strings"

	"lockstep/internal/language"
)

// form is what each lesson has in a language: its headings, in their order, and what some of its paragraphs begin with.
type form struct {
	headings             []string
	answer, opens, leads string
}

func formOf(in language.Language) form {
	if in == language.Chinese {
		return form{
			[]string{"预测", "运行", "看到的", "解释", "在调度席上", "试一试", "还有什么缺陷"},
			"答案是 **", "在另一个终端运行 `go run .`，打开[", "下一课：[",
		}
	}
	return form{
		[]string{"Predict", "Run", "See", "Explain", "In the scheduler's seat", "Try", "Still broken"},
		"The answer is **", "With `go run .` in another terminal, open [", "Next: [",
	}
}

// PageAddress is the page's, as lessons write it.
const PageAddress = "http://127.0.0.1:8080/"

// What stands before a command: where it is typed, and in the comment above what it prints.
const typed, prints = "go run . ", "lockstep "

// parse reads a lesson. What is missing or out of place is an ErrForm that says so.
func parse(markdown string, in language.Language) (l Lesson, err error) {
	form, blocks := formOf(in), blocksOf(markdown)
	if len(blocks) > 1 && blocks[0].isHeading(1) && blocks[1].link() != "" {
		var number string
		number, l.Title, _ = strings.Cut(strings.TrimPrefix(blocks[0].written, "# "), ". ")
		l.Number, _ = strconv.Atoi(number) // 0: there is none
	}
	if l.Number == 0 || l.Title == "" {
		return l, fmt.Errorf("%w: it does not begin with # NUMBER. TITLE, and a line of links", ErrForm)
	}
	opening, s, err := split(blocks[2:], form.headings)
	if err != nil {
		return l, err
	}
	if l.Choices = s[Predict].last().items(); l.Choices != nil {
		s[Predict] = s[Predict][:len(s[Predict])-1]
	}
	if strings.HasPrefix(s[Broken].last().written, form.leads) {
		s[Broken] = s[Broken][:len(s[Broken])-1]
	}
	if code, _ := s[Run].last().code("sh"); strings.HasPrefix(code, typed) {
		l.Run = strings.TrimSpace(strings.TrimPrefix(code, typed))
	}
	if see := s[See].last(); see.comment == prints+l.Run {
		l.Seen, _ = see.code("text")
	}
	var answer, link string
	s[Explain], answer = s[Explain].without(form.answer, "**")
	l.Answer, _ = strconv.Atoi(answer) // 0: there is none
	l.Idea = opening.text()
	for i, section := range s {
		l.Sections = append(l.Sections, Section{Heading: form.headings[i], Text: section.text()})
	}
	s[Seat], link = s[Seat].without(form.opens, ")")
	_, l.Link, _ = strings.Cut(link, "]("+PageAddress)
	if err := l.check(); err != nil {
		return l, err
	}
	return l, l.part(opening, s)
}

// without returns a section without a sentence of its first paragraph, and what that says between its beginning and its end; "" if it is
// not there.
func (s blocks) without(begin, end string) (rest blocks, said string) {
	if len(s) == 0 {
		return s, ""
	}
	first := s[0]
	before, after, begins := strings.Cut(first.written, begin)
	said, after, ends := strings.Cut(after, end)
	if !begins || !ends {
		return s, ""
	}
	if first.written = strings.TrimSpace(before + strings.TrimLeft(after, ".。 \n")); first.written == "" {
		return s[1:], said
	}
	return append(blocks{first}, s[1:]...), said
}

// split returns what is before the first heading, and the sections.
func split(all blocks, headings []string) (before blocks, sections []blocks, err error) {
	var names []string
	for _, b := range all {
		switch last := len(sections) - 1; {
		case b.isHeading(2):
			names, sections = append(names, strings.TrimPrefix(b.written, "## ")), append(sections, nil)
		case last < 0:
			before = append(before, b)
		default:
			sections[last] = append(sections[last], b)
		}
	}
	if len(names) != len(headings) {
		return nil, nil, fmt.Errorf("%w: it has %d sections; want %s", ErrForm, len(names), strings.Join(headings, ", "))
	}
	for i, name := range names {
		if name != headings[i] {
			return nil, nil, fmt.Errorf("%w: section %d is called %q; want %q", ErrForm, i+1, name, headings[i])
		}
	}
	return before, sections, nil
}

// check says what a lesson lacks.
func (l Lesson) check() error {
	for _, part := range []struct {
		name  string
		there bool
	}{
		{"an idea", l.Idea != ""},
		{"a question", l.Sections[Predict].Text != ""},
		{"two choices or more", len(l.Choices) > 1},
		{"an answer among the choices", l.Answer >= 1 && l.Answer <= len(l.Choices)},
		{"a command", l.Run != ""},
		{"the output of its command", l.Seen != ""},
		{"a reason", l.Sections[Explain].Text != ""},
		{"a link into the seat", strings.HasPrefix(l.Link, "#/schedule/")},
		{"something to try", l.Sections[Try].Text != ""},
		{"what is still broken", l.Sections[Broken].Text != ""},
	} {
		if !part.there {
			return fmt.Errorf("%w: it lacks %s", ErrForm, part.name)
		}
	}
	return nil
}

// Arguments splits a command as a shell does, as far as the course needs it: at spaces outside double quotes.
func Arguments(command string) (arguments []string) {
	for i, part := range strings.Split(command, `"`) {
		if i%2 == 0 {
			arguments = append(arguments, strings.Fields(part)...)
		} else {
			arguments = append(arguments, part)
		}
	}
	return arguments
}
