package exercise

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// Checker builds learners' code and explores it.
type Checker struct {
	Root    string            // of the module, where go.mod is
	Overlay map[string]string // files to read instead of those of the module, by their path from the root
}

// The ways nothing can be checked.
var (
	ErrNoModule = errors.New("the sources of lockstep are not here, nor in a folder above: go into a clone of it")
	ErrNoGo     = errors.New("there is no go command in the PATH, and the exercises have to be compiled: install Go, https://go.dev/dl")
)

// module returns the path of the module that this program is of.
func module() string {
	return strings.TrimSuffix(reflect.TypeFor[Checker]().PkgPath(), "/internal/exercise")
}

// FindRoot returns the directory of lockstep's go.mod, in or above dir.
func FindRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if first, _, _ := strings.Cut(string(text), "\n"); err == nil && strings.TrimSuffix(first, "\r") == "module "+module() {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", ErrNoModule
		}
		dir = filepath.Dir(dir)
	}
}

// longest is how long a program may run that has been built: a loop without an end is ended.
const longest = longestExploration + patience

// program is the main package of a check. It stands beside the learner's code for the go command only.
const program = `package main

import (
	"fmt"
	"os"

	attempt "%[1]s/%[2]s"
	"%[1]s/internal/language"
	"%[1]s/internal/exercise"
)

func main() {
	if err := exercise.Answer(%[3]q, attempt.Strategy(), language.Language(os.Args[2]), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
`

// Check builds the package of a directory, given from the root, and explores it. That the code does not compile, panics or never ends
// is an outcome, not an error.
func (c Checker) Check(ctx context.Context, e Exercise, dir string, in language.Language) (Outcome, error) {
	began := time.Now()
	if why := c.refuse(dir); why != nil {
		return Outcome{Exercise: e.ID(), State: verdict.Failed, Reason: reason(why), Says: why.Error(), Seconds: time.Since(began).Seconds()}, nil
	}
	temporary, err := os.MkdirTemp("", "lockstep-check-")
	if err != nil {
		return Outcome{}, fmt.Errorf("a directory to compile in: %w; TMPDIR says where", err)
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	binary := filepath.Join(temporary, "check.exe") // Windows runs no other
	outcome, err := c.build(ctx, e, dir, temporary, binary)
	if err == nil && outcome.State != verdict.Failed {
		outcome, err = c.run(ctx, e, temporary, binary, in)
	}
	outcome.Seconds = time.Since(began).Seconds()
	return outcome, err
}

// build compiles the learner's package, and a main function for it, which an overlay puts into the module.
func (c Checker) build(ctx context.Context, e Exercise, dir, temporary, binary string) (Outcome, error) {
	source := filepath.Join(temporary, "main.go")
	replace := map[string]string{filepath.Join(c.Root, "exercises", "check", "main.go"): source}
	for file, with := range c.Overlay {
		replace[filepath.Join(c.Root, filepath.FromSlash(file))] = with
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return Outcome{}, err
	}
	list := filepath.Join(temporary, "overlay.json")
	text := fmt.Sprintf(program, module(), filepath.ToSlash(dir), e.ID())
	if err := errors.Join(os.WriteFile(source, []byte(text), 0o600), os.WriteFile(list, overlay, 0o600)); err != nil {
		return Outcome{}, err
	}
	command := exec.CommandContext(ctx, "go",
		"build", "-mod=readonly", "-buildvcs=false", "-ldflags=-s -w", "-overlay", list, "-o", binary, "./exercises/check")
	command.Dir = c.Root
	command.Env = append(os.Environ(), "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH) // it is this module, run here
	output, err := command.CombinedOutput()
	if err == nil {
		return Outcome{Exercise: e.ID()}, nil
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return Outcome{}, fmt.Errorf("%w (%w)", ErrNoGo, err)
	case !errors.As(err, &exit) || ctx.Err() != nil:
		return Outcome{}, errors.Join(err, ctx.Err())
	}
	failed := Outcome{Exercise: e.ID(), State: verdict.Failed, Reason: NotCompiled, Says: strings.TrimSpace(string(output))}
	if !strings.Contains(filepath.ToSlash(failed.Says), filepath.ToSlash(dir)) {
		failed.Reason = OtherTrouble // of the go command: the learner's code is not at fault
	}
	return failed, nil
}

// run runs what was built, and reads what it found.
func (c Checker) run(ctx context.Context, e Exercise, temporary, binary string, in language.Language) (Outcome, error) {
	ctx, stop := context.WithTimeout(ctx, longest)
	defer stop()
	file := filepath.Join(temporary, "outcome.json")
	said := &beginning{most: 64 << 10}
	command := exec.CommandContext(ctx, binary, file, string(in))
	command.Dir, command.Stderr = c.Root, said
	command.WaitDelay = time.Second
	err := command.Run()
	text, unwritten := os.ReadFile(file)
	if err == nil && unwritten == nil {
		var outcome Outcome
		return outcome, json.Unmarshal(text, &outcome)
	}
	failed := Outcome{Exercise: e.ID(), State: verdict.Failed, Reason: Panicked, Says: strings.TrimSpace(said.text.String())}
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		failed.Reason, failed.Says = TimedOut, longest.String()
	case ctx.Err() != nil:
		return Outcome{}, ctx.Err()
	case err != nil && !errors.As(err, &exit):
		return Outcome{}, err
	case failed.Says == "":
		failed.Reason, failed.Says = OtherTrouble, "the program ended before the check did: does it call os.Exit?"
	}
	return failed, nil
}

// beginning keeps the first bytes of what is written: of a panic, what matters stands there.
type beginning struct {
	text bytes.Buffer
	most int
}

func (b *beginning) Write(p []byte) (int, error) {
	b.text.Write(p[:min(len(p), b.most-b.text.Len())])
	return len(p), nil
}
