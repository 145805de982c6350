package course

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"lockstep/internal/language"
)

// headings returns those of every lesson, in their order.
func headings(in language.Language) []string {
	if in == language.Chinese {
		return []string{"预测", "运行", "看到的", "解释", "在调度席上", "试一试", "还有什么缺陷"}
	}
	return []string{"Predict", "Run", "See", "Explain", "In the scheduler's seat", "Try", "Still broken"}
}

var (
	title  = regexp.MustCompile(`^# (\d+)\. (.+)\n\n\[[^\n]+\n\n`)
	choice = regexp.MustCompile(`^(\d)\. (.+)$`)
	runs   = regexp.MustCompile("^(?:<!-- exits 1 -->\n)?```sh\ngo run \\. ([^\n]+)\n```$")
	seen   = regexp.MustCompile("(?s)^<!-- lockstep ([^\n]+) -->\n```text\n(.*)```$")
	answer = regexp.MustCompile(`^(?:The answer is|答案是) \*\*(\d)\*\*[.。]\s*`)
	seat   = regexp.MustCompile("(?:With `go run \\.` in another terminal, open |在另一个终端运行 `go run \\.`，打开)" +
		`\[[^]]+\]\(http://127\.0\.0\.1:8080/(#/schedule/[^)]+)\)[.。]\s*`)
	next    = regexp.MustCompile(`\n\n(?:Next: |下一课：)\[[^\n]+$`)
	heading = regexp.MustCompile(`(?m)^## (.+)$`)
)

// parse reads a lesson. What is missing or out of place is an ErrForm that says so.
func parse(text string, in language.Language) (l Lesson, err error) {
	parts := title.FindStringSubmatch(text)
	if parts == nil {
		return l, fmt.Errorf("%w: it does not begin with # NUMBER. TITLE, and a line of links", ErrForm)
	}
	l.Number, _ = strconv.Atoi(parts[1]) // they are digits
	l.Title = parts[2]
	if l.Idea, l.Sections, err = split(text[len(parts[0]):], headings(in)); err != nil {
		return l, err
	}
	s := l.Sections
	s[Predict].Text, l.Choices = question(s[Predict].Text)
	s[Broken].Text = next.ReplaceAllString(s[Broken].Text, "")
	if run := runs.FindStringSubmatch(s[Run].Text); run != nil {
		l.Run = run[1]
	}
	if output := seen.FindStringSubmatch(s[See].Text); output != nil && output[1] == l.Run {
		l.Seen = output[2]
	}
	if begins := answer.FindStringSubmatch(s[Explain].Text); begins != nil {
		l.Answer, _ = strconv.Atoi(begins[1]) // it is a digit
		s[Explain].Text = strings.TrimPrefix(s[Explain].Text, begins[0])
	}
	if link := seat.FindStringSubmatch(s[Seat].Text); link != nil {
		l.Link = link[1]
	}
	if err := l.check(); err != nil {
		return l, err
	}
	return l, l.parts()
}

// split returns what is before the first heading, and the sections.
func split(text string, headings []string) (before string, sections []Section, err error) {
	at := heading.FindAllStringSubmatchIndex(text, -1)
	if len(at) != len(headings) {
		return "", nil, fmt.Errorf("%w: it has %d sections; want %s", ErrForm, len(at), strings.Join(headings, ", "))
	}
	for i, place := range at {
		if name := text[place[2]:place[3]]; name != headings[i] {
			return "", nil, fmt.Errorf("%w: section %d is called %q; want %q", ErrForm, i+1, name, headings[i])
		}
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		sections = append(sections, Section{Heading: headings[i], Text: strings.TrimSpace(text[place[1]:end])})
	}
	return strings.TrimSpace(text[:at[0][0]]), sections, nil
}

// question takes the choices off the end of a section.
func question(section string) (asked string, choices []string) {
	asked, list, _ := strings.Cut("\n\n"+section, "\n\n1. ")
	for i, line := range strings.Split("1. "+list, "\n") {
		if parts := choice.FindStringSubmatch(line); parts != nil && parts[1] == strconv.Itoa(i+1) {
			choices = append(choices, parts[2])
		}
	}
	return strings.TrimSpace(asked), choices
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
		{"a link into the seat", l.Link != ""},
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
