package course

import (
	"fmt"
	"strings"
)

// Part is a piece of a section: prose, or commands and what leads to them. A page shows what it is about in its own way; whoever reads the
// file, or takes the course in a terminal, has the section's whole text.
type Part struct {
	Text     string // Markdown
	Terminal bool   // it is about the terminal
	Commands []Command
	Printed  string // by the first of the commands, where the lesson shows it
}

const terminal = "terminal" // the comment above a paragraph that is about it

// partsOf makes parts of blocks.
func partsOf(all blocks) (parts []Part, err error) {
	var prose blocks
	flush := func() {
		if len(prose) > 0 {
			parts, prose = append(parts, Part{Text: prose.text()}), nil
		}
	}
	for _, b := range all {
		lines, isTyped := b.code("sh", "powershell")
		line, isPrinted := strings.CutPrefix(b.comment, prints)
		switch {
		case b.comment == terminal:
			flush()
			parts = append(parts, Part{Text: b.written, Terminal: true})
		case isTyped:
			part := Part{}
			if part.Commands, err = commandsOf(lines); err != nil {
				return nil, err
			}
			if last := len(prose) - 1; last >= 0 {
				part.Text = prose[last].lead(part.Commands[0].Kind)
				prose = prose[:last]
			}
			flush()
			parts = append(parts, part)
		case isPrinted:
			printed, _ := b.code("text")
			last := len(parts) - 1
			if last < 0 || len(prose) > 0 || len(parts[last].Commands) == 0 || !parts[last].prints(line, printed) {
				return nil, fmt.Errorf("%w: what %q prints does not stand behind it", ErrForm, line)
			}
		default:
			prose = append(prose, b)
		}
	}
	flush()
	return parts, nil
}

// lead returns what leads to commands: to a difference, without the link to the page, which shows it.
func (b block) lead(to Kind) string {
	before, _, _ := strings.Cut(b.written, "[")
	before = strings.TrimSpace(before)
	if lead := strings.TrimRight(before, ":："); to == Differs && b.link() != "" && lead != before {
		return lead
	}
	return b.written
}

// prints notes what the first command prints, and which schedule that shows; if it is this command.
func (p *Part) prints(line, printed string) bool {
	c := &p.Commands[0]
	if c.Line != line {
		return false
	}
	p.Printed = printed
	if _, replay, is := strings.Cut(printed, `--replay "`); is && c.Schedule == "" {
		c.Schedule, _, _ = strings.Cut(replay, `"`)
	}
	return true
}

func commandsOf(lines string) (commands []Command, err error) {
	for line := range strings.SplitSeq(strings.TrimSuffix(lines, "\n"), "\n") {
		command, ours := strings.CutPrefix(line, typed)
		if !ours {
			return nil, fmt.Errorf("%w: %q is no command of this program", ErrForm, line)
		}
		read, err := ReadCommand(command)
		if err != nil {
			return nil, err
		}
		commands = append(commands, read)
	}
	return commands, nil
}

// part makes the parts of a lesson.
func (l *Lesson) part(opening blocks, sections []blocks) (err error) {
	if l.Opening, err = partsOf(opening); err != nil {
		return err
	}
	for place := range l.Sections {
		if place == See {
			continue // it is what Run prints
		}
		if l.Sections[place].Parts, err = partsOf(sections[place]); err != nil {
			return fmt.Errorf("%s: %w", l.Sections[place].Heading, err)
		}
	}
	if !l.Sections[Run].Parts[0].prints(l.Run, l.Seen) {
		return fmt.Errorf("%w: what %q prints is not shown", ErrForm, l.Run)
	}
	return l.contrasts()
}

// contrasts finds for each contrast the schedule that it is about: the lesson has shown it before.
func (l *Lesson) contrasts() error {
	type scene struct{ lock, scenario, anomaly string }
	shown := map[scene]string{}
	for _, section := range l.Sections {
		for _, part := range section.Parts {
			for i := range part.Commands {
				c := &part.Commands[i]
				about := scene{c.Lock, c.Scenario, c.Anomaly}
				if c.Kind == Contrasts && c.Schedule == "" {
					c.Schedule = shown[about]
				}
				switch {
				case c.Schedule != "":
					shown[about] = c.Schedule
				case c.Kind == Contrasts:
					return fmt.Errorf("%w: %q is about a schedule that the lesson does not show", ErrForm, c.Line)
				}
			}
		}
	}
	return nil
}
