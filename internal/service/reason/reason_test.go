package reason_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/reason"
)

// unexplainedErrors are the errors that need no reason.
var unexplainedErrors = map[string]string{
	"service.ErrRunChanging": "the sale waits for the next run",
	"service.ErrRunChanged":  "it is ErrRunOver",
	"service.ErrForgotten":   "it is ErrRunOver",
	"service.ErrNotHolder":   "no sale gets it, only a removal by hand",
}

// Each error of a lock and of a sale has a reason, with a text in each language and a code of its own.
func TestEveryErrorHasReason(t *testing.T) {
	table := parseFile(t, "reason.go")
	var named []string
	ast.Inspect(table, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is {
			named = append(named, fmt.Sprint(s.X, ".", s.Sel))
		}
		return true
	})
	for pkg, file := range map[string]string{"lock": "../../lock/errors.go", "service": "../service.go"} {
		for name := range errorsOf(parseFile(t, file)) {
			if name = pkg + "." + name; slices.Contains(named, name) == (unexplainedErrors[name] != "") {
				t.Errorf("%s has to be a reason, or to need none: %q", name, unexplainedErrors[name])
			}
		}
	}
	codes := map[string]bool{}
	for _, r := range reason.All() {
		if codes[r.Code] || r.Code == "" || reason.WithCode(r.Code) != r || r.Text.In(language.Chinese) == "" {
			t.Errorf("%v has the code %q, which has to be its own, and says %q", r.Err, r.Code, r.Text.In(language.Chinese))
		}
		codes[r.Code] = true
	}
}

// errorsOf yields the names of the errors that a file declares.
func errorsOf(file *ast.File) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, d := range file.Decls {
			d, is := d.(*ast.GenDecl)
			if !is || d.Tok != token.VAR {
				continue
			}
			for _, spec := range d.Specs {
				if name := spec.(*ast.ValueSpec).Names[0].Name; strings.HasPrefix(name, "Err") && !yield(name) {
					return
				}
			}
		}
	}
}

func parseFile(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Of finds the reason by errors.Is, never by the text of an error. The more specific reason comes first.
func TestOfReturnsMostSpecificReason(t *testing.T) {
	for _, c := range []struct {
		err  error
		code string
	}{
		{fmt.Errorf("EVAL: %w: %w", service.ErrOutcomeUnknown, lock.ErrOutcomeUnknown), "outcome_unknown"},
		{fmt.Errorf("GET: %w: %w", lock.ErrCancelled, lock.ErrTimeout), "lock_timeout"},
		{lock.ErrRefused, "redis_refused"},
		{lock.ErrScriptFailed, "script_failed"},
		{lock.ErrOutcomeUnknown, "no_reply"},
		{service.ErrForgotten, "run_over"},
		{errors.New("the till is " + service.ErrSoldOut.Error()), ""},
	} {
		r := reason.FromError(c.err)
		if r.Code != c.code {
			t.Errorf("%v: %q; want %q", c.err, r.Code, c.code)
		}
		if got := r.In(language.English, "all"); got != "all" {
			t.Errorf("%v says in English %q", c.err, got)
		}
		if got := r.In(language.Chinese, "all"); (got == "all") != (c.code == "") {
			t.Errorf("%v says in Chinese %q", c.err, got)
		}
	}
}
