package web

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// errModule is returned for a module that cannot be bundled.
var errModule = errors.New("it cannot be in a document")

// Statements of a module. Only those that unsupported does not match can be bundled.
var (
	imported    = regexp.MustCompile(`(?m)^import \{([^}]*)\} from "([^"]+)";\n`)
	exported    = regexp.MustCompile(`(?m)^export (?:const|let|class|(?:async )?function\*?) (\w+)`)
	export      = regexp.MustCompile(`(?m)^export `)
	unsupported = regexp.MustCompile(`(?m)^import |\bimport\(|^export (default|\{|\*)|</script`)
)

// bundle joins a module and its imports into one script, imports first. Each module becomes a function that returns its exports. bundle
// supports only the forms of import and export that the page uses, and returns an error for any other.
func bundle(files fs.FS, entry string) (string, error) {
	b := bundler{files: files, begun: map[string]bool{}}
	b.script.WriteString("const modules = {};\n")
	if err := b.add(entry, nil); err != nil {
		return "", err
	}
	return b.script.String(), nil
}

// bundler joins modules into a script.
type bundler struct {
	files  fs.FS           // modules by path
	begun  map[string]bool // paths of the modules that were added, or are being added
	script strings.Builder // script so far
}

// add adds a module after its imports. importers lists the modules that lead to it, from the entry on.
func (b *bundler) add(name string, importers []string) error {
	if slices.Contains(importers, name) {
		return fmt.Errorf("%s: %w: it imports itself: %s", name, errModule, strings.Join(importers, ", "))
	}
	if b.begun[name] {
		return nil
	}
	b.begun[name] = true
	text, err := fs.ReadFile(b.files, name)
	if err != nil {
		return err
	}
	body := string(text)
	for _, found := range imported.FindAllStringSubmatch(body, -1) {
		if err := b.add(path.Join(path.Dir(name), found[2]), append(importers, name)); err != nil {
			return err
		}
	}
	body = imported.ReplaceAllStringFunc(body, func(statement string) string {
		found := imported.FindStringSubmatch(statement)
		names := strings.ReplaceAll(found[1], " as ", ": ")
		return fmt.Sprintf("const {%s} = modules[%q];\n", names, path.Join(path.Dir(name), found[2]))
	})
	if wrong := unsupported.FindString(body); wrong != "" {
		return fmt.Errorf("%s: %w: unsupported statement %q", name, errModule, wrong)
	}
	var names []string
	for _, found := range exported.FindAllStringSubmatch(body, -1) {
		names = append(names, found[1])
	}
	fmt.Fprintf(&b.script, "modules[%q] = (() => {\n%s\nreturn { %s };\n})();\n", name, export.ReplaceAllString(body, ""),
		strings.Join(names, ", "))
	return nil
}
