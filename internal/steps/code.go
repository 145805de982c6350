package steps

import (
	"io/fs"
	"slices"
	"strings"

	"lockstep/internal"
	"lockstep/internal/evolution"
	"lockstep/internal/strategy"
)

// Excerpt is a piece of a source file.
type Excerpt struct {
	Name string `json:"name"` // path of the file from the root of the repository
	From int    `json:"from"` // 1-based number of the excerpt's first line in the file
	Text string `json:"text"`
}

// Code returns the code that runs in a sale under a lock, in reading order: locking and unlocking, the update of the stock, and the Lua
// scripts.
func Code(lock string) ([]Excerpt, error) {
	s, err := evolution.Find(lock)
	if err != nil {
		return nil, err
	}
	var all []Excerpt
	var code strings.Builder
	add := func(selected selection) error {
		text, err := fs.ReadFile(internal.Sources, selected.file)
		for _, excerpt := range excerpts("internal/"+selected.file, string(text), selected.names) {
			all = append(all, excerpt)
			code.WriteString(excerpt.Text)
		}
		return err
	}
	for _, selected := range lockCode(lock) {
		if err := add(selected); err != nil {
			return nil, err
		}
	}
	rest := updateCode(s.Update)
	if strings.Contains(code.String(), "StartRenewal(") {
		rest = append([]selection{{"lock/renew.go", []string{"run"}}}, rest...)
	}
	for _, selected := range rest {
		if err := add(selected); err != nil {
			return nil, err
		}
	}
	scripts, err := sentScripts(code.String())
	for _, script := range scripts {
		all = append(all, Excerpt{script.path, 1, strings.TrimRight(script.text, "\n")})
	}
	return all, err
}

// selection is a choice of code in a file.
type selection struct {
	file  string   // path from internal/
	names []string // names of the functions; nil: everything from the first method on
}

// lockCode returns the selections with the code of a lock.
func lockCode(lock string) (all []selection) {
	const antipatterns = "lock/contrast/antipatterns.go"
	dir := "lock" + lock
	switch lock {
	case "v0", "atomic", "optimistic", "non-idempotent":
		return nil
	case "local":
		return []selection{{"lock/contrast/local.go", nil}}
	case "getset":
		return []selection{{"lock/contrast/getset.go", nil}, {antipatterns, []string{"unlock"}}}
	case "late-commit":
		dir = "lockv4"
	case "segmented":
		dir = "lockv11"
	case "setnx-expire":
		return []selection{{antipatterns, []string{"NewSetNXExpire", "TryLock", "unlock"}}}
	case "lua-setnx":
		return []selection{{antipatterns, []string{"NewLuaSetNX", "TryLock", "unlock"}}}
	case "set-expire":
		return []selection{{antipatterns, []string{"NewSetExpire", "TryLock", "unlock"}}}
	case "setex":
		return []selection{{antipatterns, []string{"NewSetEX", "TryLock", "unlock"}}}
	case "delex", "redlock":
		dir = "lock/" + lock
	}
	files, _ := fs.Glob(internal.Sources, dir+"/*.go")
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			all = append(all, selection{file, nil})
		}
	}
	if lock == "redlock" {
		all = append(all, selection{"lock/quorum/quorum.go", nil})
	}
	return all
}

// updateCode returns the selections with the code of an update of the stock.
func updateCode(update strategy.Update) []selection {
	const usual, watching = "service/update.go", "service/optimistic.go"
	switch update {
	case strategy.Atomic, strategy.Unchecked:
		return []selection{{usual, []string{"take"}}}
	case strategy.Segmented:
		return []selection{
			{"service/segmented.go", []string{"NewSegmentLocks", "sellFromSegments", "firstSegment"}}, {usual, []string{"prepare", "write"}},
		}
	case strategy.CheckAndSet:
		return []selection{{watching, []string{"checkAndSet"}}, {usual, []string{"prepare", "write"}}}
	default:
		return []selection{{usual, []string{"prepare", "write"}}}
	}
}

// excerpts returns the named functions of a file. If functions is nil, it returns everything from the first method on.
func excerpts(name, text string, functions []string) (all []Excerpt) {
	for _, d := range parseGo(text).declarations {
		isDeclared := func(name string) bool { return slices.Contains(d.names, name) }
		switch {
		case functions == nil && d.receiver == "", functions != nil && !slices.ContainsFunc(functions, isDeclared):
			continue
		case functions == nil:
			d.end = len(text)
		}
		all = append(all, Excerpt{name, 1 + strings.Count(text[:d.start], "\n"), strings.TrimRight(text[d.start:d.end], "\n")})
		if functions == nil {
			break
		}
	}
	return all
}
