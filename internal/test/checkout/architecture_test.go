package checkout

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	packageClause = regexp.MustCompile(`(?m)^package (\w+)`)
	topLevelNames = regexp.MustCompile(`(?m)^(?:func|type) (\w+)`)
	methods       = regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)(?:\[[^\]]*\])?\) (\w+)\(`)
	qualifiedName = regexp.MustCompile("`(\\w+\\.\\w+)`")
)

// declaredNames returns the qualified names that the Go files of internal declare: functions and types as package.Name, methods as
// Type.Method.
func declaredNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir("internal", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		in := packageClause.FindStringSubmatch(string(text))
		for _, name := range topLevelNames.FindAllStringSubmatch(string(text), -1) {
			names[in[1]+"."+name[1]] = true
		}
		for _, method := range methods.FindAllStringSubmatch(string(text), -1) {
			names[method[1]+"."+method[2]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Every function, method and type that ARCHITECTURE names is declared. Names without a capital are those of settings.
func TestArchitectureNamesExist(t *testing.T) {
	declared, seen := declaredNames(t), 0
	for _, name := range qualifiedName.FindAllStringSubmatch(read(t, "docs/ARCHITECTURE.md"), -1) {
		if isFile := strings.HasSuffix(name[1], ".lua"); isFile || strings.ToLower(name[1]) == name[1] {
			continue
		}
		seen++
		if !declared[name[1]] {
			t.Errorf("docs/ARCHITECTURE.md names %s, which is not declared", name[1])
		}
	}
	if seen < 30 {
		t.Errorf("docs/ARCHITECTURE.md names %d functions, methods and types; want at least those of a sale", seen)
	}
}
