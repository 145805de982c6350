package oracle

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"lockstep/internal/exercise"
)

// How many cures an exercise has at least, with its solution.
const (
	fewestWrong = 5
	fewestRight = 3
)

// cureBegins is the first line of a cure in testdata/cures: right or wrong, and in what way; what it is made of; which look refuses it,
// so that no other is explored; and what it does.
var cureBegins = regexp.MustCompile(`^(right|wrong ([a-z-]+))(, from the solution)?(, in "(.*)")?: (.+)$`)

// cure is what a learner may make of an exercise: lock.go, or its solution, with some lines replaced.
type cure struct {
	attempt

	base       string   // file that is changed
	old, lines []string // pieces, and what takes their place
}

// curesOf reads those of an exercise. After its first line, a cure has lines that begin with - or +: what goes, and what comes in its
// place. What goes has to be in the file once. An empty line ends a piece.
func curesOf(t *testing.T, e exercise.Exercise) (all []cure) {
	t.Helper()
	wrong, right, piece := 0, 1, true // the solution is right; another piece begins
	for line := range strings.Lines(read(t, "internal/test/oracle/testdata/cures/"+e.ID()+".txt")) {
		line = strings.TrimSuffix(line, "\n")
		if begins := cureBegins.FindStringSubmatch(line); begins != nil {
			side, _, _ := strings.Cut(begins[1], " ")
			c := cure{base: e.Dir() + "/lock.go", attempt: attempt{
				of: e, name: e.ID() + ", " + side + " cure, " + begins[6], in: fmt.Sprintf("cures/e%02dc%d", e.Number, len(all)), shows: begins[2],
			}}
			if begins[4] != "" {
				c.looks = []string{begins[5]}
			}
			if begins[3] != "" {
				c.base = e.Dir() + "/solution/lock.go"
			}
			if c.shows == "" {
				right++
			} else {
				wrong++
			}
			all, piece = append(all, c), true
			continue
		}
		if len(all) == 0 || line != "" && line[0] != '-' && line[0] != '+' {
			t.Fatalf("%s: what is %q?", e.ID(), line)
		}
		c := &all[len(all)-1]
		switch {
		case line == "":
			piece = true
		case line[0] == '-' && piece:
			c.old, c.lines, piece = append(c.old, line[1:]), append(c.lines, ""), false
		case line[0] == '-':
			c.old[len(c.old)-1] += "\n" + line[1:]
		default:
			c.lines[len(c.lines)-1] += line[1:] + "\n"
		}
	}
	if wrong < fewestWrong || right < fewestRight {
		t.Errorf("%s has %d wrong cures and %d right ones; want %d and %d", e.ID(), wrong, right, fewestWrong, fewestRight)
	}
	return all
}

// source is the cure's code.
func (c cure) source(t *testing.T) string {
	t.Helper()
	text := read(t, c.base)
	for i, old := range c.old {
		if strings.Count(text, old+"\n") != 1 {
			t.Fatalf("%s: %s has not once:\n%s", c.name, c.base, old)
		}
		text = strings.Replace(text, old+"\n", c.lines[i], 1)
	}
	return text
}
