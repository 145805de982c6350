package exercise

import (
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

// Checker builds a learner's code and explores it.
type Checker struct {
	Root    string            // directory of the module's go.mod
	Overlay map[string]string // replacement files, by the path from Root of the file that each replaces; nil: none
}

// The errors that make a check impossible.
var (
	// ErrNoModule is returned for a directory that is not in a clone of lockstep.
	ErrNoModule = language.Translate(
		errors.New("the sources of lockstep are neither here nor in a parent directory: change to a clone of lockstep"),
		"这里和上级目录都没有 lockstep 的源码：请进入克隆的目录")
	// ErrNoGo is returned if there is no go command.
	ErrNoGo = language.Translate(
		errors.New("there is no go command in the PATH, and the exercises have to be compiled: install Go, https://go.dev/dl"),
		"PATH 里没有 go 命令，而练习要编译：请安装 Go，https://golang.google.cn/dl")
)

// module returns the path of the Go module of this program.
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

// runTimeout is the time after which the built program is killed. It is longer than an exploration may take, so only an endless loop in the
// learner's code reaches it.
const runTimeout = explorationTime + patience

// program is the source of a check's main package. An overlay adds that package to the module, so it exists only for the go command.
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

// Check builds the package in dir, a path from Root, and explores it. Code that does not compile, panics or never ends is an outcome, not
// an error.
func (c Checker) Check(ctx context.Context, e Exercise, dir string, in language.Language) (Outcome, error) {
	start := time.Now()
	if refusal := c.refuse(e, dir, in); refusal.State == verdict.Failed {
		refusal.Seconds = time.Since(start).Seconds()
		return refusal, nil
	}
	temporary, err := os.MkdirTemp("", "lockstep-check-")
	if err != nil {
		return Outcome{}, fmt.Errorf("creating a directory for the compilation: %w; TMPDIR selects another place", err)
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	outcome, err := c.build(ctx, e, dir, temporary, in)
	if err == nil && outcome.State != verdict.Failed {
		outcome, err = c.run(ctx, e, dir, temporary, in)
	}
	outcome.Seconds = time.Since(start).Seconds()
	return outcome, err
}

// refuse returns a failed outcome for code that must not be built; the State of other code's outcome is empty.
func (c Checker) refuse(e Exercise, dir string, in language.Language) Outcome {
	o := Outcome{Exercise: e.ID()}
	if fault := c.sourceFault(e, dir, in); fault != "" {
		o.fail(in, NotCompiled, fault)
	} else if err := c.checkSource(dir); err != nil {
		o.failBy(err, in)
	}
	return o
}

// binaryName is the name of the built program. Windows needs the extension .exe.
const binaryName = "check.exe"

// build compiles the learner's package with the main package of the check. Code that does not compile is an outcome, not an error.
func (c Checker) build(ctx context.Context, e Exercise, dir, temporary string, in language.Language) (Outcome, error) {
	source := filepath.Join(temporary, "main.go")
	replace := map[string]string{filepath.Join(c.Root, "exercises", "check", "main.go"): source}
	for file, replacement := range c.Overlay {
		replace[filepath.Join(c.Root, filepath.FromSlash(file))] = replacement
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
		"build", "-mod=readonly", "-buildvcs=false", "-ldflags=-s -w", "-overlay", list,
		"-o", filepath.Join(temporary, binaryName), "./exercises/check")
	command.Dir = c.Root
	// Build this module for this machine, whatever the environment says.
	command.Env = append(os.Environ(), "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
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
	failed, reason := Outcome{Exercise: e.ID()}, OtherTrouble
	says, ok := goErrors(string(output), dir, in)
	if ok {
		reason = NotCompiled
	}
	failed.fail(in, reason, says)
	return failed, nil
}

// run runs the built program, and reads its outcome.
func (c Checker) run(ctx context.Context, e Exercise, dir, temporary string, in language.Language) (Outcome, error) {
	ctx, stop := context.WithTimeout(ctx, runTimeout)
	defer stop()
	file := filepath.Join(temporary, "outcome.json")
	stdout, stderr := &prefixWriter{limit: 1}, &prefixWriter{limit: 64 << 10} // a panic with many goroutines is longer
	command := exec.CommandContext(ctx, filepath.Join(temporary, binaryName), file, string(in))
	command.Dir, command.Stdout, command.Stderr = c.Root, stdout, stderr
	command.WaitDelay = time.Second
	err := command.Run()
	printed := stdout.text.Len()+stderr.text.Len() > 0
	text, readErr := os.ReadFile(file)
	if err == nil && readErr == nil {
		outcome := Outcome{Printed: printed}
		return outcome, json.Unmarshal(text, &outcome)
	}
	failed := Outcome{Exercise: e.ID()}
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		failed.fail(in, TimedOut, in.Say("the program was still running after %v. Does the code loop in Strategy or in an init function?",
			"程序运行了 %v 还没有结束。是不是在 Strategy 或 init 函数里死循环了？", runTimeout))
	case ctx.Err() != nil:
		return Outcome{}, ctx.Err()
	case err != nil && !errors.As(err, &exit):
		return Outcome{}, err
	default:
		failed.failByEnd(command.ProcessState.String(), stderr.text.String(), dir, in)
	}
	return failed, nil
}
