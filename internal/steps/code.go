package steps

import (
	"io/fs"
	"slices"
	"strings"

	"lockstep/internal"
	"lockstep/internal/evolution"
	"lockstep/internal/strategy"
)

// Part is a piece of a file.
type Part struct {
	Name string `json:"name"` // of the file, from the root of the repository
	From int    `json:"from"` // the number of its first line
	Text string `json:"text"`
}

// Code returns what runs in a sale under a lock, in the order in which it is read: what locks and unlocks, the update, and the
// scripts.
func Code(lock string) ([]Part, error) {
	s, err := evolution.Find(lock)
	if err != nil {
		return nil, err
	}
	var all []Part
	var code strings.Builder
	add := func(of functions) error {
		text, err := fs.ReadFile(internal.Sources, of.file)
		for _, part := range partsOf("internal/"+of.file, string(text), of.names) {
			all = append(all, part)
			code.WriteString(part.Text)
		}
		return err
	}
	for _, of := range locking(lock) {
		if err := add(of); err != nil {
			return nil, err
		}
	}
	rest := updating(s.Update)
	if strings.Contains(code.String(), "StartRenewal(") {
		rest = append([]functions{{"lock/renew.go", []string{"run"}}}, rest...)
	}
	for _, of := range rest {
		if err := add(of); err != nil {
			return nil, err
		}
	}
	scripts, err := scriptsOf(code.String())
	for _, script := range scripts {
		all = append(all, Part{script.path, 1, strings.TrimRight(script.text, "\n")})
	}
	return all, err
}

// functions are some of a file; without names, all from its first method on.
type functions struct {
	file  string
	names []string
}

// locking says where a lock is.
func locking(lock string) (all []functions) {
	const antipatterns = "lock/contrast/antipatterns.go"
	dir := "lock" + lock
	switch lock {
	case "v0", "atomic", "optimistic", "non-idempotent":
		return nil
	case "local":
		return []functions{{"lock/contrast/local.go", nil}}
	case "getset":
		return []functions{{"lock/contrast/getset.go", nil}, {antipatterns, []string{"unlock"}}}
	case "late-commit":
		dir = "lockv4"
	case "segmented":
		dir = "lockv11"
	case "setnx-expire":
		return []functions{{antipatterns, []string{"NewSetNXExpire", "TryLock", "unlock"}}}
	case "lua-setnx":
		return []functions{{antipatterns, []string{"NewLuaSetNX", "TryLock", "unlock"}}}
	case "set-expire":
		return []functions{{antipatterns, []string{"NewSetExpire", "TryLock", "unlock"}}}
	case "setex":
		return []functions{{antipatterns, []string{"NewSetEX", "TryLock", "unlock"}}}
	case "delex", "redlock":
		dir = "lock/" + lock
	}
	files, _ := fs.Glob(internal.Sources, dir+"/*.go")
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			all = append(all, functions{file, nil})
		}
	}
	if lock == "redlock" {
		all = append(all, functions{"lock/quorum/quorum.go", nil})
	}
	return all
}

// updating says where the sale updates the stock.
func updating(update strategy.Update) []functions {
	const usual, watching = "service/update.go", "service/optimistic.go"
	switch update {
	case strategy.Atomic, strategy.Unchecked:
		return []functions{{usual, []string{"take"}}}
	case strategy.Segmented:
		return []functions{
			{"service/segmented.go", []string{"SegmentLocks", "sellFromSegments", "firstSegment"}}, {usual, []string{"prepare", "write"}},
		}
	case strategy.CheckAndSet:
		return []functions{{watching, []string{"checkAndSet"}}, {usual, []string{"prepare", "write"}}}
	default:
		return []functions{{usual, []string{"prepare", "write"}}}
	}
}

// partsOf cuts functions out of a file; or, without names, what there is from its first method on.
func partsOf(name, text string, functions []string) (all []Part) {
	for _, d := range form(text).declarations {
		named := func(name string) bool { return slices.Contains(d.names, name) }
		switch {
		case functions == nil && d.of == "", functions != nil && !slices.ContainsFunc(functions, named):
			continue
		case functions == nil:
			d.to = len(text)
		}
		all = append(all, Part{name, 1 + strings.Count(text[:d.from], "\n"), strings.TrimRight(text[d.from:d.to], "\n")})
		if functions == nil {
			break
		}
	}
	return all
}
