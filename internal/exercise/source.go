package exercise

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/internal/language"
)

// sourceFile is a Go file of a learner's package.
type sourceFile struct {
	name string // path from Checker.Root, with slashes
	path string // file to read: the replacement, if there is one
}

// sources returns the Go files in dir, a path from Root, without tests.
func (c Checker) sources(dir string) (all []sourceFile, err error) {
	found, err := filepath.Glob(filepath.Join(c.Root, filepath.FromSlash(dir), "*.go"))
	for _, file := range found {
		name := path.Join(filepath.ToSlash(dir), filepath.Base(file))
		if replacement, ok := c.Overlay[name]; ok {
			file = replacement
		}
		if !strings.HasSuffix(name, "_test.go") {
			all = append(all, sourceFile{name, file})
		}
	}
	return all, err
}

// sourceFault returns a sentence about a file that is missing, empty, or in the wrong package, and how to correct that. It returns "" if
// no fault is known. The go command's messages about these faults would name files of the check, not the learner's.
func (c Checker) sourceFault(e Exercise, dir string, in language.Language) string {
	files, _ := c.sources(dir) // the only error is a malformed pattern
	if len(files) == 0 {
		return in.Say("%s/lock.go does not exist. This restores the original: git checkout -- %[1]s",
			"%s/lock.go 不存在。用这条命令可以还原：git checkout -- %[1]s", dir)
	}
	packages := map[string]string{} // package clause by file
	names := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file.path)
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			return in.Say("%s is empty. This restores the original: git checkout -- %[1]s",
				"%s 是空的。用这条命令可以还原：git checkout -- %[1]s", file.name)
		}
		// If the clause cannot be parsed, the compiler says what is wrong.
		if tree, err := parser.ParseFile(token.NewFileSet(), file.path, text, parser.PackageClauseOnly); err == nil {
			packages[file.name], names[tree.Name.Name] = tree.Name.Name, true
		}
	}
	for _, file := range files {
		got, want := packages[file.name], e.packageName()
		if got == "main" || got != "" && got != want && len(names) > 1 {
			return in.Say("%s begins with package %s. It has to be package %s", "%s 以 package %s 开头，应为 package %s", file.name, got, want)
		}
	}
	return ""
}

// packageName returns the name of the exercise's package in the original file.
func (e Exercise) packageName() string { return strings.ReplaceAll(e.Name, "-", "") }

// goErrors returns the errors that the go command has printed. ok is false if they are not about the learner's code in dir.
func goErrors(output, dir string, in language.Language) (says string, ok bool) {
	if strings.Contains(output, "attempt.Strategy") { // an error in the program of the check, which calls it
		return in.Say("%s/lock.go has to declare this function, with which the check begins:\n\n%s",
			"%s/lock.go 必须声明下面这个函数，检查从它开始：\n\n%s", dir,
			"func Strategy() strategy.Strategy { return strategy.Strategy{New: New} }"), true
	}
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(output), "\n"), func(line string) bool { return strings.HasPrefix(line, "# ") })
	return strings.Join(lines, "\n"), strings.Contains(filepath.ToSlash(output), filepath.ToSlash(dir))
}
