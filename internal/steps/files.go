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

// File is a file that the step changes, or its head, the text above the code. Added and Removed do not count comments and blank lines.
type File struct {
	Name     string `json:"name"`    // path from the root of the repository
	Replaces string `json:"was"`     // name of the file that it replaces; "": none
	Note     string `json:"says"`    // reason why the file is new; "": it existed before
	Head     bool   `json:"head"`    // only the head: package comment, imports
	Added    int    `json:"added"`   // number of added lines
	Removed  int    `json:"removed"` // number of removed lines
	Lines    []Line `json:"lines"`
}

// files returns the files that differ, in reading order: the lock's code, its scripts, the parts of internal/lock that the step uses first,
// and last the heads of the Go files. removals are sentences about what the step no longer uses.
func (s Step) files(in language.Language) (all []File, removals []string, err error) {
	before, err := sources(s.From)
	if err != nil {
		return nil, nil, err
	}
	after, err := sources(s.To)
	if err != nil {
		return nil, nil, err
	}
	var pairs []pair
	for name, old := range findReplacements(before, after) {
		pairs = append(pairs, pair{path: after[name].path, replaced: old, before: before[old].text, after: after[name].text})
		delete(before, old)
		delete(after, name)
	}
	var unsent []string
	for name := range union(before, after) {
		if _, ok := after[name]; !ok && path.Ext(name) == ".lua" {
			unsent = append(unsent, name) // The script still exists, because other locks use it.
			continue
		}
		pairs = append(pairs, pair{
			path: cmp.Or(after[name].path, before[name].path), before: before[name].text, after: after[name].text,
		})
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(strings.Compare(path.Ext(a.path), path.Ext(b.path)), strings.Compare(a.path, b.path)) // Go files come before Lua scripts.
	})
	for _, name := range s.NewParts {
		part, err := sharedPart(name)
		if err != nil {
			return nil, nil, err
		}
		part.note = usedFromText(s.To, in)
		pairs = append(pairs, part)
	}
	return changedFiles(pairs, in), s.removals(unsent, in), nil
}

// changedFiles returns the files whose code differs, and after them the heads that differ.
func changedFiles(pairs []pair, in language.Language) (all []File) {
	var heads []File
	for _, p := range pairs {
		head, code := p.split()
		if f := code.diff(in); f.hasChanges() {
			all = append(all, f)
		}
		head.note = headText(in)
		if f := head.diff(in); f.hasChanges() {
			f.Head = true
			heads = append(heads, f)
		}
	}
	return append(all, heads...)
}

// pair is a file before and after the step.
type pair struct {
	path     string // path from the root of the repository
	replaced string // name of the file that is replaced; "": none
	note     string // reason why the file is new, or the part of the file that the pair shows; "": none, or the default for a new file
	before   string // text before the step; "": it did not exist
	after    string // text after the step; "": it no longer exists
}

// diff returns the difference between before and after.
func (p pair) diff(in language.Language) File {
	f := File{Name: p.path, Replaces: p.replaced, Note: p.note, Lines: difference(p.before, p.after)}
	switch {
	case p.replaced != "":
		f.Note = replacesText(p.replaced, in)
	case p.before == "" && p.note == "":
		f.Note = newText(in)
	}
	for _, line := range difference(withoutComments(p.before), withoutComments(p.after)) {
		switch line.Kind {
		case Added:
			f.Added++
		case Removed:
			f.Removed++
		}
	}
	return f
}

// hasChanges reports whether a line of the file is added or removed.
func (f File) hasChanges() bool {
	return slices.ContainsFunc(f.Lines, func(line Line) bool { return line.Kind != Same })
}

// union returns the files that exist before or after.
func union(before, after map[string]source) map[string]source {
	all := maps.Clone(before)
	maps.Copy(all, after)
	return all
}

// findReplacements maps each new file that replaces another file to the name of that file, such as lockFenced.lua to lock.lua.
func findReplacements(before, after map[string]source) map[string]string {
	was := map[string]string{}
	if _, ok := after["acquire.lua"]; ok && before["lockFenced.lua"].text != "" {
		was["acquire.lua"], was["release.lua"] = "lockFenced.lua", "unlock.lua"
	}
	for name := range after {
		for old := range before {
			_, isKept := after[old]
			_, isOld := before[name]
			if stem := strings.TrimSuffix(old, path.Ext(old)); !isKept && !isOld && strings.HasPrefix(name, stem) {
				was[name] = old
			}
		}
	}
	return was
}

// source is a file: its path from the root of the repository, and its text.
type source struct{ path, text string }

// sources returns the files of a lock by name: the Go files of its package, or its constructor in internal/lock/contrast, and the scripts
// that the lock sends.
func sources(lock string) (map[string]source, error) {
	texts, err := goSources(lock)
	if err != nil {
		return nil, fmt.Errorf("the source of %s: %w", lock, err)
	}
	var code strings.Builder
	for _, file := range texts {
		code.WriteString(file.text)
	}
	scripts, err := sentScripts(code.String())
	for _, script := range scripts {
		texts[path.Base(script.path)] = script
	}
	return texts, err
}

// sentScripts returns the Lua scripts that the code sends.
func sentScripts(code string) (all []source, err error) {
	scripts, err := fs.Glob(lua.Sources, "*.lua")
	if err != nil {
		return nil, err
	}
	for _, script := range scripts {
		name := strings.TrimSuffix(script, ".lua")
		if script == "queue.lua" {
			name = "(acquire|acquireOrAsk|release)" // These scripts begin with the text of queue.lua.
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

// goSources returns the Go files of a lock by name. v0 has none, because it does not lock.
func goSources(lock string) (map[string]source, error) {
	constructors := map[string]string{"setnx-expire": "NewSetNXExpire", "lua-setnx": "NewLuaSetNX"}
	dir := "lock" + lock
	switch {
	case lock == "v0":
		return map[string]source{}, nil
	case constructors[lock] != "":
		const name = "lock/contrast/antipatterns.go"
		text, err := fs.ReadFile(internal.Sources, name)
		return map[string]source{path.Base(name): {"internal/" + name, declarationText(string(text), constructors[lock])}}, err
	case !strings.HasPrefix(lock, "v"): // A branch of the evolution has its package in internal/lock.
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
