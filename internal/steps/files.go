package steps

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"lockstep/internal"
	"lockstep/internal/language"
	"lockstep/util/lua"
)

// File is one that the step changes, or the head of one.
type File struct {
	Name    string `json:"name"` // from the root of the repository
	Was     string `json:"was"`  // the script whose place it takes; "" if none
	Says    string `json:"says"` // how it comes here; "" of one that was there
	Head    bool   `json:"head"` // only what stands above the code: the package's comment, imports
	Added   int    `json:"added"`
	Removed int    `json:"removed"` // lines, without comments and blank ones
	Lines   []Line `json:"lines"`
}

// files returns what differs, in the order in which it is read: the lock's code, its scripts, what the step brings to internal/lock, and
// last the heads of the Go files. It also says what the step does without.
func (s Step) files(in language.Language) (all []File, gone []string, err error) {
	before, err := sources(s.From)
	if err != nil {
		return nil, nil, err
	}
	after, err := sources(s.To)
	if err != nil {
		return nil, nil, err
	}
	var pairs []pair
	for name, old := range renamed(before, after) {
		pairs = append(pairs, pair{path: after[name].path, was: old, before: before[old].text, after: after[name].text})
		delete(before, old)
		delete(after, name)
	}
	var unsent []string
	for name := range either(before, after) {
		if _, stays := after[name]; !stays && path.Ext(name) == ".lua" {
			unsent = append(unsent, name) // it is there still, for other locks
			continue
		}
		pairs = append(pairs, pair{
			path: cmp.Or(after[name].path, before[name].path), before: before[name].text, after: after[name].text,
		})
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(strings.Compare(path.Ext(a.path), path.Ext(b.path)), strings.Compare(a.path, b.path)) // Go before Lua
	})
	for _, name := range s.Brings {
		brought, err := shared(name)
		if err != nil {
			return nil, nil, err
		}
		brought.says = usedFrom(s.To, in)
		pairs = append(pairs, brought)
	}
	return shown(pairs, in), s.gone(unsent, in), nil
}

// shown returns the files of pairs that differ, the heads of all behind them.
func shown(pairs []pair, in language.Language) (all []File) {
	var heads []File
	for _, p := range pairs {
		above, code := p.split()
		if f := code.file(in); f.changes() {
			all = append(all, f)
		}
		above.says = headSays(in)
		if f := above.file(in); f.changes() {
			f.Head = true
			heads = append(heads, f)
		}
	}
	return append(all, heads...)
}

// pair is a file before and after the step; "" where there is none.
type pair struct{ path, was, says, before, after string }

// file returns the difference of the two.
func (p pair) file(in language.Language) File {
	f := File{Name: p.path, Was: p.was, Says: p.says, Lines: difference(p.before, p.after)}
	switch {
	case p.was != "":
		f.Says = insteadOf(p.was, in)
	case p.before == "" && p.says == "":
		f.Says = newSays(in)
	}
	for _, line := range difference(uncommented(p.before), uncommented(p.after)) {
		switch line.Kind {
		case Added:
			f.Added++
		case Removed:
			f.Removed++
		}
	}
	return f
}

// changes reports whether a line of the file comes or goes.
func (f File) changes() bool {
	return slices.ContainsFunc(f.Lines, func(line Line) bool { return line.Kind != Same })
}

// either returns the files that there are before or after.
func either(before, after map[string]source) map[string]source {
	all := maps.Clone(before)
	maps.Copy(all, after)
	return all
}

// renamed gives, for a file that is new, the one that it takes the place of: lock.lua for lockFenced.lua.
func renamed(before, after map[string]source) map[string]string {
	was := map[string]string{}
	if _, inTurn := after["acquire.lua"]; inTurn && before["lockFenced.lua"].text != "" {
		was["acquire.lua"], was["release.lua"] = "lockFenced.lua", "unlock.lua"
	}
	for name := range after {
		for old := range before {
			_, stays := after[old]
			_, known := before[name]
			if stem := strings.TrimSuffix(old, path.Ext(old)); !stays && !known && strings.HasPrefix(name, stem) {
				was[name] = old
			}
		}
	}
	return was
}

// source is the text of a file.
type source struct{ path, text string }

// sources returns those of a lock by their names: its package, or what makes it in internal/lock/contrast, and the scripts that it sends.
func sources(lock string) (map[string]source, error) {
	texts, err := written(lock)
	if err != nil {
		return nil, fmt.Errorf("the source of %s: %w", lock, err)
	}
	var code strings.Builder
	for _, file := range texts {
		code.WriteString(file.text)
	}
	scripts, err := scriptsOf(code.String())
	for _, script := range scripts {
		texts[path.Base(script.path)] = script
	}
	return texts, err
}

// scriptsOf returns those that code sends.
func scriptsOf(code string) (all []source, err error) {
	scripts, err := fs.Glob(lua.Sources, "*.lua")
	if err != nil {
		return nil, err
	}
	for _, script := range scripts {
		name := strings.TrimSuffix(script, ".lua")
		if script == "queue.lua" {
			name = "(acquire|acquireOrAsk|release)" // which begin with it
		}
		if !regexp.MustCompile(`(?i)\blua\.` + name + `\b`).MatchString(code) {
			continue
		}
		text, err := fs.ReadFile(lua.Sources, script)
		if err != nil {
			return nil, err
		}
		all = append(all, source{"util/lua/" + script, string(text)})
	}
	return all, nil
}

// written returns the Go files of a lock. v0 has none: it is no lock.
func written(lock string) (map[string]source, error) {
	made := map[string]string{"setnx-expire": "NewSetNXExpire", "lua-setnx": "NewLuaSetNX"}
	dir := "lock" + lock
	switch {
	case lock == "v0":
		return map[string]source{}, nil
	case made[lock] != "":
		const name = "lock/contrast/antipatterns.go"
		text, err := fs.ReadFile(internal.Sources, name)
		return map[string]source{path.Base(name): {"internal/" + name, declared(string(text), made[lock])}}, err
	case !strings.HasPrefix(lock, "v"): // a branch
		dir = path.Join("lock", lock)
	}
	files, err := fs.ReadDir(internal.Sources, dir)
	if err != nil {
		return nil, err
	}
	texts := map[string]source{}
	for _, file := range files {
		text, err := fs.ReadFile(internal.Sources, path.Join(dir, file.Name()))
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(file.Name(), "_test.go") {
			texts[file.Name()] = source{path.Join("internal", dir, file.Name()), string(text)}
		}
	}
	return texts, nil
}
