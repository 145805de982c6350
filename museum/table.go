package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"lockstep/museum/internal/exhibit"
	"lockstep/museum/internal/library"
	"lockstep/museum/internal/play"
	"lockstep/museum/internal/yielding"
)

const (
	readme = "README.md"
	begins = "<!-- the table: go run . -write -->\n"
	ends   = "<!-- the end of the table -->\n"
)

// table explores all libraries in all scenarios, and writes what was found.
func (o options) table(stage *play.Stage, stdout, stderr io.Writer) error {
	var entries []exhibit.Entry
	for _, l := range library.All() {
		fmt.Fprintln(stderr, l.Name)
		shown, err := exhibit.Explore(stage, l, exhibit.Scenarios(l), o.runs, false)
		if err != nil {
			return err
		}
		if l.Wakes {
			more, err := o.yielding(l, stderr)
			if err != nil {
				return err
			}
			shown.Rows = append(shown.Rows, more.Rows...)
		}
		entries = append(entries, exhibit.Entry{Library: l, Shown: shown})
	}
	text := exhibit.Legend() + "\n" + exhibit.Markdown(entries)
	if o.write {
		return replace(text)
	}
	_, err := io.WriteString(stdout, text)
	return err
}

// yielding explores a library in which a new goroutine goes first, without any fault.
func (o options) yielding(l library.Library, stderr io.Writer) (shown exhibit.Shown, err error) {
	var out bytes.Buffer
	arguments := []string{"-library", l.Name, "-yields", "-json", "-runs", fmt.Sprint(o.runs)}
	if err := yielding.Run(context.Background(), ".", arguments, &out, stderr); err != nil {
		return shown, err
	}
	return shown, json.Unmarshal(out.Bytes(), &shown)
}

// replace puts the table into the README.
func replace(table string) error {
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(text), begins)
	_, after, ended := strings.Cut(rest, ends)
	if !begun || !ended {
		return fmt.Errorf("%s has no lines %q and %q", readme, begins, ends)
	}
	return os.WriteFile(readme, []byte(before+begins+"\n"+table+"\n"+ends+after), 0o644) //nolint:gosec // as it was
}
