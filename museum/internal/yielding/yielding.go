// Package yielding makes a copy of a library in which the goroutine that starts another one lets it go first.
//
// The language leaves it open which of the two goes on after a go statement. With one processor it is always the one that was running;
// with several, now and then the other. A call of runtime.Gosched after each go statement changes nothing that a program may rely on, and
// makes the rare order the usual one. It is put into a copy, outside the module, and the copy is used by a go.mod of its own.
package yielding

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	module = "github.com/redis/rueidis"
	folder = "rueidislock" // package that the copy changes
)

// Modfile returns the name of a go.mod that uses the copy, for the museum whose module is in the folder here. The copy stays in the user's
// cache, so that it is compiled once.
func Modfile(ctx context.Context, here string) (string, error) {
	modfile, err := prepare(ctx, here)
	if err != nil {
		return "", fmt.Errorf("a copy of %s that yields: %w", module, err)
	}
	return modfile, nil
}

// prepare makes the copy, if there is none, and gives the name of a go.mod that uses it.
func prepare(ctx context.Context, here string) (modfile string, err error) {
	here, err = filepath.Abs(here)
	if err != nil {
		return "", err
	}
	version, err := output(ctx, here, "list", "-m", "-f", "{{.Version}}", module)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	home := filepath.Join(cache, "lockstep-museum")
	copied := filepath.Join(home, folder+"-yields-"+version)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", err
	}
	if _, err := os.Stat(copied); err != nil {
		if err := create(ctx, here, home, copied); err != nil {
			return "", err
		}
	}
	return use(ctx, here, copied)
}

// create makes the copy, and gives it its name when it is whole.
func create(ctx context.Context, here, home, copied string) error {
	source, err := output(ctx, here, "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return err
	}
	unfinished, err := os.MkdirTemp(home, "unfinished")
	if err != nil {
		return err
	}
	library := filepath.Join(unfinished, "library")
	if err := os.CopyFS(library, os.DirFS(source)); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(library, folder, "*.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := change(file); err != nil {
			return err
		}
	}
	return os.Rename(unfinished, copied)
}

// use writes a go.mod that uses the copy, beside it.
func use(ctx context.Context, here, copied string) (modfile string, err error) {
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(here, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, name), text, 0o600)
		}
		if err != nil {
			return "", err
		}
	}
	modfile, library := filepath.Join(copied, "go.mod"), filepath.Join(copied, "library")
	_, err = output(ctx, here, "mod", "edit", "-replace", module+"="+library, "-replace", "lockstep="+filepath.Dir(here), modfile)
	return modfile, err
}

func output(ctx context.Context, in string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = in
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(arguments, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// change lets a file of Go yield. Its lines keep their numbers.
func change(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	changed, err := Yield(text)
	if err != nil {
		return err
	}
	if err := os.Chmod(file, 0o600); err != nil { // the copy is read-only, as the original is
		return err
	}
	return os.WriteFile(file, changed, 0o600)
}

// Yield puts a call of runtime.Gosched after each go statement. Two calls in fact: now and then the scheduler lets the one who yields go
// on at once, but never twice.
func Yield(text []byte) ([]byte, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var after []int // byte offsets
	ast.Inspect(parsed, func(n ast.Node) bool {
		if statement, ok := n.(*ast.GoStmt); ok {
			after = append(after, files.Position(statement.End()).Offset)
		}
		return true
	})
	if len(after) == 0 {
		return text, nil
	}
	slices.Sort(after)
	var b bytes.Buffer
	at := files.Position(parsed.Name.End()).Offset
	b.Write(text[:at])
	b.WriteString(`; import yielding "runtime"`)
	for _, end := range after {
		b.Write(text[at:end])
		b.WriteString("; yielding.Gosched(); yielding.Gosched()")
		at = end
	}
	b.Write(text[at:])
	return b.Bytes(), nil
}
