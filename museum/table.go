package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"lockstep/museum/internal/exhibit"
	"lockstep/museum/internal/library"
	"lockstep/museum/internal/yielding"
)

const (
	tables = "TABLES.md"
	begins = "<!-- the table: go run . -write -->\n"
	ends   = "<!-- the end of the table -->\n"
)

// table explores all libraries in all scenarios, and writes what was found.
func (o options) table(t *testing.T, stdout, stderr io.Writer) error {
	var entries []exhibit.Entry
	for _, l := range library.All() {
		fmt.Fprintln(stderr, l.Name)
		shown, err := exhibit.Explore(t, l, exhibit.Scenarios(l), o.runs, false)
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
		entries = append(entries, exhibit.Entry{Library: l, Findings: shown})
	}
	older, err := o.older(stderr)
	if err != nil {
		return err
	}
	text := exhibit.Legend() + "\n" + exhibit.Markdown(entries) + "\n" + exhibit.MarkdownOfOlder(older)
	if o.write {
		return replace(text)
	}
	_, err = io.WriteString(stdout, text)
	return err
}

// yielding explores a library in which a new goroutine goes first, without any fault.
func (o options) yielding(l library.Library, stderr io.Writer) (shown exhibit.Findings, err error) {
	modfile, err := yielding.Modfile(context.Background(), ".")
	if err != nil {
		return shown, err
	}
	return shownBy(context.Background(), modfile, []string{"-library", l.Name, "-yields", "-runs", fmt.Sprint(o.runs)}, stderr)
}

// older explores older versions, each in the scenario of its issue.
func (o options) older(stderr io.Writer) (map[exhibit.Old]exhibit.Findings, error) {
	all := map[exhibit.Old]exhibit.Findings{}
	for _, old := range exhibit.Older() {
		fmt.Fprintln(stderr, old.Library, old.Version)
		arguments := append([]string{"-library", old.Library, "-runs", fmt.Sprint(o.runs)}, strings.Fields(old.Scenario.String())...)
		shown, err := shownBy(context.Background(), old.Modfile, arguments, stderr)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", old.Library, old.Version, err)
		}
		all[old] = shown
	}
	return all, nil
}

// replace puts the tables into their page.
func replace(table string) error {
	text, err := os.ReadFile(tables)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(text), begins)
	_, after, ended := strings.Cut(rest, ends)
	if !begun || !ended {
		return fmt.Errorf("%s has no lines %q and %q", tables, begins, ends)
	}
	return os.WriteFile(tables, []byte(before+begins+"\n"+table+"\n"+ends+after), 0o644) //nolint:gosec // as it was
}
