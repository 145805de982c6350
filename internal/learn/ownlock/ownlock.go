// Package ownlock writes a module with a lock that its reader completes, step by step, with the tests of each step.
package ownlock

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"lockstep/internal/language"
)

//go:embed template
var template embed.FS

// Steps is how many steps the lock takes.
const Steps = 6

// ErrNotEmpty means that there is a file where the module was to be written.
var ErrNotEmpty = errors.New("there is something already: name a folder that is not there, or is empty")

// Write writes the module into a folder, which it makes. Root is the clone of lockstep that the module uses: its versions are the clone's.
func Write(dir, root string, in language.Language) error {
	here, err := os.ReadDir(dir)
	switch {
	case err == nil && len(here) > 0:
		return fmt.Errorf("%s: %w", dir, ErrNotEmpty)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	files := map[string]string{"lock.go": "lock.go.txt", "lock_test.go": "lock_test.go.txt", "README.md": "README.md"}
	if in == language.Chinese {
		files["README.md"] = "README.zh-CN.md"
	}
	texts := map[string][]byte{}
	for name, source := range files {
		if texts[name], err = template.ReadFile("template/" + source); err != nil {
			return err
		}
	}
	if texts["go.mod"], err = goMod(root); err != nil {
		return err
	}
	if texts["go.sum"], err = os.ReadFile(filepath.Join(root, "go.sum")); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a folder as any other
		return err
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil { //nolint:gosec // sources, for everybody
			return err
		}
	}
	return nil
}

var moduleLine = regexp.MustCompile(`(?m)^module (\S+)\r?$`)

// goMod is the clone's go.mod as that of a module beside it: it requires the clone, and what that requires.
func goMod(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	name := moduleLine.FindSubmatch(text)
	if name == nil {
		return nil, fmt.Errorf("%s has no line that names the module", filepath.Join(root, "go.mod"))
	}
	ours := string(name[1])
	own := strings.TrimRight(strings.Replace(string(text), string(name[0]), "module mylock", 1), "\n")
	return fmt.Appendf(nil, "%s\nrequire %s v0.0.0\n\nreplace %s => %s\n", own, ours, ours, quoted(filepath.ToSlash(root))), nil
}

// quoted is a path as go.mod has it.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t\"`'()[]{},;") {
		return strconv.Quote(path)
	}
	return path
}
