package course

import (
	"fmt"
	"strings"
)

// Part is a piece of a section: prose, or commands with the prose that introduces them. The page in the browser renders parts; the course
// in the terminal prints the text of the section instead.
type Part struct {
	Text     string    // Markdown
	Terminal bool      // the part is only useful in a terminal
	Commands []Command // commands of a code block; nil: the part is prose
	Printed  string    // output of the first command; "": the lesson does not show any
}

// terminalComment is the HTML comment above a paragraph that is only useful in a terminal.
const terminalComment = "terminal"

// parseParts groups blocks into parts. It returns ErrForm for a command that cannot be parsed, or an output without its command.
func parseParts(all blocks) (parts []Part, err error) {
	var prose blocks
	flush := func() {
		if len(prose) > 0 {
			parts, prose = append(parts, Part{Text: prose.text()}), nil
		}
	}
	for _, b := range all {
		lines, isCommand := b.code("sh", "powershell")
		line, isOutput := strings.CutPrefix(b.comment, outputPrefix)
		switch {
		case b.comment == terminalComment:
			flush()
			parts = append(parts, Part{Text: b.markdown, Terminal: true})
		case isCommand:
			part := Part{}
			if part.Commands, err = parseCommands(lines); err != nil {
				return nil, err
			}
			if last := len(prose) - 1; last >= 0 {
				part.Text = prose[last].introduction(part.Commands[0].Kind)
				prose = prose[:last]
			}
			flush()
			parts = append(parts, part)
		case isOutput:
			printed, _ := b.code("text")
			last := len(parts) - 1
			if last < 0 || len(prose) > 0 || len(parts[last].Commands) == 0 || !parts[last].setOutput(line, printed) {
				return nil, fmt.Errorf("%w: the output of %q does not follow it", ErrForm, line)
			}
		default:
			prose = append(prose, b)
		}
	}
	flush()
	return parts, nil
}

// introduction returns the prose that introduces a command of this kind. For a difference it leaves out the link to the page, because the
// page shows the difference itself.
func (b block) introduction(kind Kind) string {
	before, _, _ := strings.Cut(b.markdown, "[")
	before = strings.TrimSpace(before)
	if text := strings.TrimRight(before, ":："); kind == KindDiff && b.link() != "" && text != before {
		return text
	}
	return b.markdown
}

// setOutput sets the output of the first command, and the schedule in that output. It returns false if line is not the first command.
func (p *Part) setOutput(line, printed string) bool {
	c := &p.Commands[0]
	if c.Line != line {
		return false
	}
	p.Printed = printed
	if _, replay, ok := strings.Cut(printed, `--replay "`); ok && c.Schedule == "" {
		c.Schedule, _, _ = strings.Cut(replay, `"`)
	}
	return true
}

// parseCommands parses a block of commands, one per line.
func parseCommands(lines string) (commands []Command, err error) {
	for line := range strings.SplitSeq(strings.TrimSuffix(lines, "\n"), "\n") {
		command, ok := strings.CutPrefix(line, typedPrefix)
		if !ok {
			return nil, fmt.Errorf("%w: %q is not a command of this program", ErrForm, line)
		}
		parsed, err := ParseCommand(command)
		if err != nil {
			return nil, err
		}
		commands = append(commands, parsed)
	}
	return commands, nil
}

// makeParts sets the parts of a lesson's opening and sections.
func (l *Lesson) makeParts(opening blocks, sections []blocks) (err error) {
	if l.Opening, err = parseParts(opening); err != nil {
		return err
	}
	for i := range l.Sections {
		if i == See {
			continue // Its output becomes a part of Run.
		}
		if l.Sections[i].Parts, err = parseParts(sections[i]); err != nil {
			return fmt.Errorf("%s: %w", l.Sections[i].Heading, err)
		}
	}
	if !l.Sections[Run].Parts[0].setOutput(l.Run, l.Seen) {
		return fmt.Errorf("%w: the output of %q is missing", ErrForm, l.Run)
	}
	return l.findContrastSchedules()
}

// findContrastSchedules sets the schedule of each contrast without one, to the last schedule that the lesson has shown for the same lock,
// scenario and anomaly.
func (l *Lesson) findContrastSchedules() error {
	type exploration struct{ lock, scenario, anomaly string }
	shown := map[exploration]string{}
	for _, section := range l.Sections {
		for _, part := range section.Parts {
			for j := range part.Commands {
				c := &part.Commands[j]
				key := exploration{c.Lock, c.Scenario, c.Anomaly}
				if c.Kind == KindContrast && c.Schedule == "" {
					c.Schedule = shown[key]
				}
				switch {
				case c.Schedule != "":
					shown[key] = c.Schedule
				case c.Kind == KindContrast:
					return fmt.Errorf("%w: %q is about a schedule that the lesson does not show", ErrForm, c.Line)
				}
			}
		}
	}
	return nil
}
