// Package ownlock writes a module with a lock that its reader completes, step by step, with the tests of each step.
package ownlock

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
func Write(ctx context.Context, dir, root string, in language.Language) error {
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
	if texts["go.mod"], err = goMod(ctx, root); err != nil {
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

// client is the module of the client that the lock uses.
const client = "github.com/redis/go-redis/v9"

// goMod makes the go.mod of a module beside the clone: it requires the clone, and the modules that the tests need, in the clone's versions.
func goMod(ctx context.Context, root string) ([]byte, error) {
	const line = "{{with .Module}}{{.Path}} {{.Version}} {{if .Main}}{{.GoVersion}}{{end}}{{end}}"
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-f", line, "./locktest", "./redistest", client)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list in %s: %w", root, err)
	}
	var ours, version string // of Go
	indirect, direct := map[string]bool{}, ""
	for line := range strings.Lines(string(out)) {
		switch words := strings.Fields(line); {
		case len(words) == 2 && words[0] == client:
			direct = strings.Join(words, " ")
		case len(words) == 2 && strings.HasPrefix(words[1], "v"):
			indirect[strings.Join(words, " ")] = true
		case len(words) == 2: // the main module has no version
			ours, version = words[0], words[1]
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module mylock\n\ngo %s\n\nrequire (\n\t%s\n\t%s v0.0.0\n)\n\nrequire (\n", version, direct, ours)
	for _, module := range slices.Sorted(maps.Keys(indirect)) {
		fmt.Fprintf(&b, "\t%s // indirect\n", module)
	}
	fmt.Fprintf(&b, ")\n\nreplace %s => %s\n", ours, quoted(filepath.ToSlash(root)))
	return []byte(b.String()), nil
}

// quoted is a path as go.mod has it.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t\"`'()[]{},;") {
		return strconv.Quote(path)
	}
	return path
}
