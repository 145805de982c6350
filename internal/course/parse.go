package course

import (
	"fmt"
	"strconv"
	"strings"

	"lockstep/internal/language"
)

// structure is the required structure of a lesson in one language.
type structure struct {
	headings   []string // headings of the sections, in order
	answer     string   // beginning of the sentence with the number of the right choice
	seatLink   string   // beginning of the sentence with the link to the scheduler's seat
	nextLesson string   // beginning of the paragraph with the link to the next lesson
}

// structureOf returns the required structure of a lesson in a language.
func structureOf(in language.Language) structure {
	if in == language.Chinese {
		return structure{
			[]string{"预测", "运行", "观察", "解释", "在调度席上", "试一试", "还有什么缺陷"},
			"答案是 **", "在另一个终端运行 `go run .`，打开[", "下一课：[",
		}
	}
	return structure{
		[]string{"Predict", "Run", "See", "Explain", "In the scheduler's seat", "Try", "Still broken"},
		"The answer is **", "With `go run .` in another terminal, open [", "Next: [",
	}
}

// PageAddress is the address of the page in the browser, as lessons write it.
const PageAddress = "http://127.0.0.1:8080/"

// The prefixes of a command: in the code that a reader types, and in the comment above its output.
const typedPrefix, outputPrefix = "go run . ", "lockstep "

// parse parses a lesson. It returns an ErrForm that names the first part that is missing or in the wrong place.
func parse(markdown string, in language.Language) (l Lesson, err error) {
	required, blocks := structureOf(in), parseBlocks(markdown)
	if len(blocks) > 1 && blocks[0].isHeading(1) && blocks[1].link() != "" {
		var number string
		number, l.Title, _ = strings.Cut(strings.TrimPrefix(blocks[0].markdown, "# "), ". ")
		l.Number, _ = strconv.Atoi(number) // 0: it is missing, which is checked below
	}
	if l.Number == 0 || l.Title == "" {
		return l, fmt.Errorf("%w: it does not begin with # NUMBER. TITLE, and a line of links", ErrForm)
	}
	opening, sections, err := splitSections(blocks[2:], required.headings)
	if err != nil {
		return l, err
	}
	if l.Choices = sections[Predict].last().items(); l.Choices != nil {
		sections[Predict] = sections[Predict][:len(sections[Predict])-1]
	}
	if strings.HasPrefix(sections[Broken].last().markdown, required.nextLesson) {
		sections[Broken] = sections[Broken][:len(sections[Broken])-1]
	}
	if code, _ := sections[Run].last().code("sh"); strings.HasPrefix(code, typedPrefix) {
		l.Run = strings.TrimSpace(strings.TrimPrefix(code, typedPrefix))
	}
	if see := sections[See].last(); see.comment == outputPrefix+l.Run {
		l.Seen, _ = see.code("text")
	}
	var answer, link string
	sections[Explain], answer = sections[Explain].cutPassage(required.answer, "**")
	l.Answer, _ = strconv.Atoi(answer) // 0: it is missing, which is checked below
	l.Idea = opening.text()
	for i, section := range sections {
		l.Sections = append(l.Sections, Section{Heading: required.headings[i], Text: section.text()})
	}
	sections[Seat], link = sections[Seat].cutPassage(required.seatLink, ")")
	_, l.Link, _ = strings.Cut(link, "]("+PageAddress)
	if err := l.check(); err != nil {
		return l, err
	}
	return l, l.makeParts(opening, sections)
}

// cutPassage removes a passage from the first paragraph of a section: the text from the mark begin to the mark end, with both marks. It
// returns the other blocks, and the text between the marks; "" if there is no such passage.
func (s blocks) cutPassage(begin, end string) (rest blocks, passage string) {
	if len(s) == 0 {
		return s, ""
	}
	first := s[0]
	before, after, hasBegin := strings.Cut(first.markdown, begin)
	passage, after, hasEnd := strings.Cut(after, end)
	if !hasBegin || !hasEnd {
		return s, ""
	}
	if first.markdown = strings.TrimSpace(before + strings.TrimLeft(after, ".。 \n")); first.markdown == "" {
		return s[1:], passage
	}
	return append(blocks{first}, s[1:]...), passage
}

// splitSections returns the blocks before the first heading of level 2, and the blocks of each section. It returns ErrForm if the headings
// are not the given ones.
func splitSections(all blocks, headings []string) (before blocks, sections []blocks, err error) {
	var names []string
	for _, b := range all {
		switch last := len(sections) - 1; {
		case b.isHeading(2):
			names, sections = append(names, strings.TrimPrefix(b.markdown, "## ")), append(sections, nil)
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

// check returns an ErrForm that names the first part that the lesson lacks.
func (l Lesson) check() error {
	for _, part := range []struct {
		name      string
		isPresent bool
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
		if !part.isPresent {
			return fmt.Errorf("%w: it lacks %s", ErrForm, part.name)
		}
	}
	return nil
}

// Arguments splits a command at spaces outside double quotes. The commands of the course need no more of a shell's syntax.
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
