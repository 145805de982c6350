package answer

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/reason"
)

// The code of an error is that of the first wrapped error that has one. A cancellation has the code of its cause, if the cause has one.
func TestStatusOfUsesFirstWrappedCode(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		status int
		code   string
	}{
		{"unknown outcome of a sale", fmt.Errorf("%w: %w", service.ErrOutcomeUnknown, lock.ErrOutcomeUnknown), 503, "outcome_unknown"},
		{"unknown outcome of a command", fmt.Errorf("EVAL: %w: %w", lock.ErrOutcomeUnknown, errors.New("EOF")), 503, "redis_unavailable"},
		{"cancelled by a timeout", fmt.Errorf("GET: %w: %w", lock.ErrCancelled, lock.ErrTimeout), 503, "lock_timeout"},
		{"cancelled by the client", fmt.Errorf("GET: %w: %w", lock.ErrCancelled, context.Canceled), 499, "client_closed_request"},
		{
			"bad request before an unknown lock",
			fmt.Errorf("%w: lock: %w", lock.WithCode("bad_request", "bad request"), evolution.ErrUnknown), 400, "bad_request",
		},
		{"sold out", service.ErrSoldOut, 409, "sold_out"},
		{"conflict", service.ErrConflict, 500, "internal"},
		{"code without a status", lock.WithCode("unheard_of", "a code that no status was used to"), 500, "internal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if status, code := StatusOf(c.err); status != c.status || code != c.code {
				t.Errorf("got %d %s; want %d %s", status, code, c.status, c.code)
			}
		})
	}
}

// Each code of an error has a status, and each code with a status belongs to some error.
func TestEveryCodeHasStatus(t *testing.T) {
	used := map[string]bool{}
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), "../../"+path, nil, parser.SkipObjectResolution)
		ast.Inspect(file, func(n ast.Node) bool {
			if code := codeOfCall(n); code != "" {
				used[code] = true
				if _, ok := statuses[code]; !ok {
					t.Errorf("%s: %s has no status", path, code)
				}
			}
			return true
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for code := range statuses {
		if !used[code] {
			t.Errorf("no error has the code %s", code)
		}
	}
}

// The page has a Chinese text for each code that a reader may meet.
func TestPageTranslatesEveryCode(t *testing.T) {
	script, err := os.ReadFile("../../web/static/server.js")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(script), "const chineseErrors = {")
	table, _, _ = strings.Cut(table, "}")
	for code := range statuses {
		_, isElsewhere := map[string]string{
			"client_closed_request": "nobody reads it",
			"bad_request":           "the server's own words tell more",
			"no_rights":             "the server's own words tell more",
			"bad_data":              "the server's own words tell more",
			"bad_stock":             "the server's own words tell more",
			"method_not_allowed":    "the page sends no such request",
			"not_together":          "the page sends no such request",
			"unknown_step":          "the page sends no such request",
			"lab_running":           "the server says it in the reader's language",
			"stale_schedule":        "the server says it in the reader's language",
			"sold_out":              "shop_words.js has it",
			"lock_lost":             "shop_words.js has it",
		}[code]
		if strings.Contains(table, "  "+code+": ") == isElsewhere {
			t.Errorf("server.js has %s: %t; want %t", code, isElsewhere, !isElsewhere)
		}
	}
}

// codeOfCall returns the code that a call of lock.WithCode contains; "": n is no such call.
func codeOfCall(n ast.Node) (code string) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return ""
	}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if literal, ok := call.Args[0].(*ast.BasicLit); ok && name == "WithCode" {
		code, _ = strconv.Unquote(literal.Value)
	}
	return code
}

// A request that ends for a reason gets the status of that reason. The reasons without a status never end a request.
func TestEveryReasonHasStatus(t *testing.T) {
	for _, r := range reason.All() {
		switch status, _ := StatusOf(r.Err); r.Code {
		case "conflict", "not_obtained": // retried, never returned
		case "not_owner", "expired": // only Unlock returns it, when the result of the sale is known
		default:
			if status == 500 {
				t.Errorf("%s has no status", r.Code)
			}
		}
	}
}
