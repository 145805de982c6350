package steps

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"lockstep/internal"
)

// The parts of a Go file, as gofmt writes it: a declaration begins at the left margin, and so does the bracket that ends it.
var (
	head        = regexp.MustCompile(`(?s)\A(?://[^\n]*\n)*package \w+\n(?:\nimport (?:\([^)]*\)|[^\n]*)\n)?`)
	declaration = regexp.MustCompile(`(?m)^(?://.*\n)*(?:func|type|const|var) (?:.*[^{(\n]\n|(?s:.*?)\n[)}].*\n)\n?`)
	declares    = regexp.MustCompile(`(?m)^(?:type|const|var|func(?: \(\w+ \*?(\w+)(?:\[.*?\])?\))?) (\w+)`)
	clause      = regexp.MustCompile(`(?m)^package \w+$`)
)

// split returns what stands above the code, and the code. That a package has the name of its lock is no difference.
func (p pair) split() (above, code pair) {
	above, code = p, p
	above.before, above.after = head.FindString(p.before), head.FindString(p.after)
	code.before = strings.TrimPrefix(p.before[len(above.before):], "\n")
	code.after = strings.TrimPrefix(p.after[len(above.after):], "\n")
	if above.after != "" {
		above.before = clause.ReplaceAllLiteralString(above.before, clause.FindString(above.after))
	}
	return above, code
}

// shared returns a part of internal/lock, by its name as the table has it: a file, without what others of its names take from it; or
// "cohort.go Rounds", a declaration, of a type with its methods.
func shared(name string) (pair, error) {
	file, declared, _ := strings.Cut(name, " ")
	content, err := fs.ReadFile(internal.Sources, "lock/"+file)
	if err != nil {
		return pair{}, err
	}
	text := string(content)
	keeps := func(names []string) bool { return slices.Contains(names, declared) }
	if declared == "" {
		others := takenFrom(file)
		keeps = func(names []string) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(others, name) })
		}
	}
	above := head.FindString(text)
	code := declaration.ReplaceAllStringFunc(text[len(above):], func(one string) string {
		if keeps(namesOf(one)) {
			return one
		}
		return ""
	})
	if declared != "" {
		above = ""
	}
	return pair{path: "internal/lock/" + file, after: above + strings.TrimRight(code, "\n") + "\n"}, nil
}

// takenFrom returns the declarations of a file that a step brings by their names.
func takenFrom(file string) (names []string) {
	for _, s := range table() {
		for _, part := range s.Brings {
			if from, name, _ := strings.Cut(part, " "); from == file && name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// namesOf returns the names by which a declaration may be meant: its own; of a method its type, and TYPE.METHOD.
func namesOf(declaration string) []string {
	found := declares.FindStringSubmatch(declaration)
	switch {
	case found == nil:
		return nil
	case found[1] != "":
		return []string{found[1], found[1] + "." + found[2]}
	}
	return []string{found[2]}
}

// declared cuts a function out of a file, with its comment.
func declared(text, function string) string {
	for _, one := range declaration.FindAllString(text, -1) {
		if slices.Contains(namesOf(one), function) {
			return strings.TrimRight(one, "\n") + "\n"
		}
	}
	return ""
}

// comment is one of Go or Lua. What begins like one after a space, in a string, is in none of our sources.
var comment = regexp.MustCompile(`(?m)(?:^|[ \t]+)(?://|--).*$`)

// uncommented returns a text without its comments and blank lines.
func uncommented(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(comment.ReplaceAllString(text, "")) {
		if strings.TrimSpace(line) != "" {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
