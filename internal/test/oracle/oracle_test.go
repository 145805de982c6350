// Package oracle holds every answer of the explorer as data, a line each, in testdata/oracle.txt: what a change of the explorer changes
// is in the difference of that file, or it is nothing.
package oracle

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"lockstep/internal/test/suite"
)

const (
	file    = "testdata/oracle.txt"
	root    = "../../.."
	anew    = "go test ./internal/test/oracle -tags long -update"
	heading = "# What the explorer answers. Written by " + anew + "\n"
)

var update = flag.Bool("update", false, "write the answers, and the table that the page ships, anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// section is one kind of answers. Its lines begin with its name.
type section struct {
	name    string
	answers func(*testing.T) []string
	partial bool // in the quick suite, it gives only some of its lines
}

func sections() []section {
	return []section{
		{name: "cell", answers: cells},
		{name: "exercise", answers: exercises, partial: true},
	}
}

// Every answer of the explorer is that of testdata/oracle.txt. The quick suite explores the first exercises, and takes the cells from the
// table that is shipped.
func TestAnswersMatchRecordedOracle(t *testing.T) {
	lines, text := recorded(t), heading
	for _, s := range sections() {
		t.Run(s.name, func(t *testing.T) {
			before, now := lines[s.name], s.answers(t)
			switch small := s.partial && !suite.Long; {
			case small:
				before = about(before, now)
			case *update:
				lines[s.name] = now
				return
			}
			if changes := difference(before, now); changes != "" {
				t.Errorf("%s has changed (-: as it was, +: as it is now); if that is right: %s\n%s", file, anew, changes)
			}
		})
		text += "\n" + strings.Join(lines[s.name], "\n") + "\n"
	}
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // it is for everybody to read
			t.Fatal(err)
		}
	}
}

// recorded reads the answers as they were, by section.
func recorded(t *testing.T) map[string][]string {
	t.Helper()
	lines := map[string][]string{}
	for line := range strings.Lines(read(t, "internal/test/oracle/"+file)) {
		line = strings.TrimSuffix(line, "\n")
		if name, _, ok := strings.Cut(line, " "); ok && name != "#" {
			lines[name] = append(lines[name], line)
		}
	}
	return lines
}

// about gives those of the lines that say what others say, too: up to the colon they are the same.
func about(lines, others []string) (same []string) {
	said := map[string]bool{}
	for _, line := range others {
		what, _, _ := strings.Cut(line, ": ")
		said[what] = true
	}
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		what, _, _ := strings.Cut(line, ": ")
		return !said[what]
	})
}

// difference gives the lines that went, and those that came. It is empty if there are none, and the order is the same.
func difference(before, now []string) string {
	var changes strings.Builder
	for _, line := range before {
		if !slices.Contains(now, line) {
			fmt.Fprintln(&changes, "-", line)
		}
	}
	for _, line := range now {
		if !slices.Contains(before, line) {
			fmt.Fprintln(&changes, "+", line)
		}
	}
	if changes.Len() == 0 && !slices.Equal(before, now) {
		return "the same lines, in another order, or not as often"
	}
	return changes.String()
}

// read reads a file of the checkout.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
