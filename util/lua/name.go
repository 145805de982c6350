package lua

import (
	"regexp"
	"strings"
)

// Unnamed is what a script is called that has no name.
const Unnamed = "script"

// Name is what a script is called: its file's name without the ending. A script that is not from here is called by the first word of the
// comment that it begins with, if that is one word of letters, digits, dots, dashes and underscores.
func Name(script string) string {
	name := File(script)
	if name == "" {
		first, _, _ := strings.Cut(strings.TrimSpace(script), "\n")
		if comment, is := strings.CutPrefix(first, "--"); is {
			name, _, _ = strings.Cut(strings.TrimSpace(comment), " ")
			name = strings.TrimRight(name, ".,:;")
		}
	}
	if name = strings.TrimSuffix(name, ".lua"); !regexp.MustCompile(`^[\w.-]+$`).MatchString(name) {
		return Unnamed
	}
	return name
}
