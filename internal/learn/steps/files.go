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

	"github.com/aymanbagabas/go-udiff"

	"lockstep/internal"
	"lockstep/util/lua"
)

// File is one that the step changes, all of it.
type File struct {
	Name  string `json:"name"`
	Was   string `json:"was"` // its name before, "" if it is the same
	Lines []Line `json:"lines"`
}

// Line is one of a file.
type Line struct {
	Kind string `json:"kind"` // " " as it was, "-" only before, "+" only after
	Text string `json:"text"`
}

// files returns the files that differ, those of Go first.
func (s Step) files() (all []File, err error) {
	before, err := sources(s.From)
	if err != nil {
		return nil, err
	}
	after, err := sources(s.To)
	if err != nil {
		return nil, err
	}
	was := renamed(before, after)
	for name, old := range was {
		before[name] = before[old]
		delete(before, old)
	}
	for _, name := range names(before, after) {
		if before[name] != after[name] {
			all = append(all, File{Name: name, Was: was[name], Lines: difference(before[name], after[name])})
		}
	}
	return all, nil
}

// names returns those of all files: Go before Lua, and each sorted.
func names(before, after map[string]string) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(strings.Compare(path.Ext(a), path.Ext(b)), strings.Compare(a, b))
	})
	return slices.Compact(all)
}

// renamed gives, for a file that is new, the one that it takes the place of: lock.lua for lockFenced.lua.
func renamed(before, after map[string]string) map[string]string {
	was := map[string]string{}
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

// difference returns the lines of two texts, in the order in which they are read.
func difference(before, after string) []Line {
	lines := []Line{}
	whole := strings.Count(before, "\n") + 1 // of context, so that all lines are in one hunk
	unified, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), whole)
	if err != nil {
		panic(err) // these edits are those of this text
	}
	kinds := map[udiff.OpKind]string{udiff.Equal: " ", udiff.Delete: "-", udiff.Insert: "+"}
	for _, hunk := range unified.Hunks {
		for _, line := range hunk.Lines {
			lines = append(lines, Line{kinds[line.Kind], strings.TrimSuffix(line.Content, "\n")})
		}
	}
	return lines
}

// sources returns the text of a lock by file: its package, or what makes it in internal/lock/contrast, and the scripts that it sends.
func sources(lock string) (map[string]string, error) {
	texts, err := written(lock)
	if err != nil {
		return nil, fmt.Errorf("the source of %s: %w", lock, err)
	}
	scripts, err := fs.Glob(lua.Sources, "*.lua")
	if err != nil {
		return nil, err
	}
	code := strings.Join(slices.Collect(maps.Values(texts)), "")
	for _, script := range scripts {
		name := strings.TrimSuffix(script, ".lua")
		if script == "queue.lua" {
			name = "(acquire|release)" // which begin with it
		}
		if !regexp.MustCompile(`(?i)\blua\.` + name + `\b`).MatchString(code) {
			continue
		}
		text, err := fs.ReadFile(lua.Sources, script)
		if err != nil {
			return nil, err
		}
		texts[script] = string(text)
	}
	return texts, nil
}

// written returns the Go files of a lock. v0 has none: it is no lock.
func written(lock string) (map[string]string, error) {
	made := map[string]string{"setnx-expire": "NewSetNXExpire", "lua-setnx": "NewLuaSetNX"}
	switch {
	case lock == "v0":
		return map[string]string{}, nil
	case made[lock] != "":
		text, err := fs.ReadFile(internal.Sources, "lock/contrast/detours.go")
		return map[string]string{"detours.go": declared(string(text), made[lock])}, err
	}
	texts, dir := map[string]string{}, "lock"+lock
	if lock == "redlock" {
		dir = "lock/redlock"
	}
	files, err := fs.ReadDir(internal.Sources, dir)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := fs.ReadFile(internal.Sources, path.Join(dir, file.Name()))
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(file.Name(), "_test.go") {
			texts[file.Name()] = string(text)
		}
	}
	return texts, nil
}

// declared cuts a function out of a file, with its comment.
func declared(text, function string) string {
	_, after, _ := strings.Cut(text, "// "+function+" ")
	body, _, _ := strings.Cut(after, "\n}\n")
	return "// " + function + " " + body + "\n}\n"
}
