// Package ownlock writes a Go module with an unfinished lock, which the reader completes step by step, and the tests for each step. Begin
// with [Write].
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

// template has the files of the module. Their suffix .txt keeps the go command from compiling them here.
//
//go:embed template
var template embed.FS

// Steps is the number of steps in which the reader completes the lock.
const Steps = 6

// ErrNotEmpty is returned by Write if the folder exists and is not empty.
var ErrNotEmpty = language.Translate(errors.New("the folder is not empty; name a new folder or an empty one"),
	"目录里已有内容：请换一个不存在的或空的目录")

// Write creates the folder dir with the module. root is the clone of lockstep that the module uses; the module requires the same versions
// of other modules as the clone. Write returns ErrNotEmpty if dir is not empty.
func Write(ctx context.Context, dir, root string, in language.Language) error {
	existing, err := os.ReadDir(dir)
	switch {
	case err == nil && len(existing) > 0:
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
	if texts["go.mod"], err = newGoMod(ctx, root); err != nil {
		return err
	}
	if texts["go.sum"], err = os.ReadFile(filepath.Join(root, "go.sum")); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // The folder holds sources, which are public.
		return err
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil { //nolint:gosec // Sources are public.
			return err
		}
	}
	return nil
}

// clientModule is the path of the Go module of the Redis client that the lock uses.
const clientModule = "github.com/redis/go-redis/v9"

// newGoMod returns the go.mod of the new module. It requires the clone of lockstep, and the other modules that the tests need, in the
// clone's versions.
func newGoMod(ctx context.Context, root string) ([]byte, error) {
	const line = "{{with .Module}}{{.Path}} {{.Version}} {{if .Main}}{{.GoVersion}}{{end}}{{end}}"
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-f", line, "./locktest", "./redistest", clientModule)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list in %s: %w", root, err)
	}
	var mainModule, goVersion string
	indirect, direct := map[string]bool{}, ""
	for line := range strings.Lines(string(out)) {
		switch words := strings.Fields(line); {
		case len(words) == 2 && words[0] == clientModule:
			direct = strings.Join(words, " ")
		case len(words) == 2 && strings.HasPrefix(words[1], "v"):
			indirect[strings.Join(words, " ")] = true
		case len(words) == 2: // The main module has no version, so the second word is its version of Go.
			mainModule, goVersion = words[0], words[1]
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module mylock\n\ngo %s\n\nrequire (\n\t%s\n\t%s v0.0.0\n)\n\nrequire (\n", goVersion, direct, mainModule)
	for _, module := range slices.Sorted(maps.Keys(indirect)) {
		fmt.Fprintf(&b, "\t%s // indirect\n", module)
	}
	fmt.Fprintf(&b, ")\n\nreplace %s => %s\n", mainModule, quotePath(filepath.ToSlash(root)))
	return []byte(b.String()), nil
}

// quotePath returns a path in the syntax of go.mod, with quotes if it needs them.
func quotePath(path string) string {
	if strings.ContainsAny(path, " \t\"`'()[]{},;") {
		return strconv.Quote(path)
	}
	return path
}
