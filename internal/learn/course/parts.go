package course

import (
	"fmt"
	"regexp"
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

var (
	commandBlock = regexp.MustCompile("(?s)^(?:<!-- exits [\\d ]+ -->\n)?```(?:sh|powershell)\n(.*)\n```$")
	diffLead     = regexp.MustCompile(`^(.+?)[:：] ?\[[^]]+\]\([^)]+\)[^\n]*$`)
	found        = regexp.MustCompile(`--replay "([^"]+)"`)
)

const terminalMark = "<!-- terminal -->\n" // above a paragraph

// partsOf parses a text.
func partsOf(text string) (parts []Part, err error) {
	var prose []string
	flush := func() {
		if len(prose) > 0 {
			parts, prose = append(parts, Part{Text: strings.Join(prose, "\n\n")}), nil
		}
	}
	for _, block := range blocksOf(text) {
		about, terminal := strings.CutPrefix(block, terminalMark)
		typed, printed := commandBlock.FindStringSubmatch(block), seen.FindStringSubmatch(block)
		switch {
		case terminal:
			flush()
			parts = append(parts, Part{Text: about, Terminal: true})
		case typed != nil:
			part := Part{}
			if last := len(prose) - 1; last >= 0 {
				part.Text, prose = prose[last], prose[:last]
			}
			flush()
			if part.Commands, err = commandsOf(typed[1]); err != nil {
				return nil, err
			}
			if lead := diffLead.FindStringSubmatch(part.Text); lead != nil && part.Commands[0].Kind == Differs {
				part.Text = lead[1]
			}
			parts = append(parts, part)
		case printed != nil:
			last := len(parts) - 1
			if last < 0 || len(prose) > 0 || len(parts[last].Commands) == 0 || !parts[last].prints(printed[1], printed[2]) {
				return nil, fmt.Errorf("%w: what %q prints does not stand behind it", ErrForm, printed[1])
			}
		default:
			prose = append(prose, block)
		}
	}
	flush()
	return parts, nil
}

// prints notes what the first command prints, and which schedule that shows; if it is this command.
func (p *Part) prints(line, printed string) bool {
	c := &p.Commands[0]
	if c.Line != line {
		return false
	}
	p.Printed = printed
	if schedule := found.FindStringSubmatch(printed); schedule != nil && c.Schedule == "" {
		c.Schedule = schedule[1]
	}
	return true
}

func commandsOf(block string) (commands []Command, err error) {
	for line := range strings.SplitSeq(block, "\n") {
		typed, ours := strings.CutPrefix(line, "go run . ")
		if !ours {
			return nil, fmt.Errorf("%w: %q is no command of this program", ErrForm, line)
		}
		command, err := ReadCommand(typed)
		if err != nil {
			return nil, err
		}
		commands = append(commands, command)
	}
	return commands, nil
}

// blocksOf splits a text at empty lines that are in no code.
func blocksOf(text string) (blocks []string) {
	var block []string
	fenced := false
	for line := range strings.SplitSeq(strings.TrimSpace(text)+"\n", "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if line != "" || fenced {
			block = append(block, line)
		} else if len(block) > 0 {
			blocks, block = append(blocks, strings.Join(block, "\n")), nil
		}
	}
	return blocks
}

// parts parses the sections.
func (l *Lesson) parts() (err error) {
	if l.Opening, err = partsOf(l.Idea); err != nil {
		return err
	}
	for place := range l.Sections {
		section := &l.Sections[place]
		text := section.Text
		switch place {
		case See:
			continue // it is what Run prints
		case Seat:
			text = seat.ReplaceAllString(text, "")
		}
		if section.Parts, err = partsOf(text); err != nil {
			return fmt.Errorf("%s: %w", section.Heading, err)
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
