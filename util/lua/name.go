package lua

import (
	"regexp"
	"strings"
)

// Unnamed is the name of a script without a name of its own.
const Unnamed = "script"

// Name returns the name of a script: its file's name without the extension. The name of a script from elsewhere is the first word of its
// first line, if that is a comment and the word has only letters, digits, dots, dashes and underscores; otherwise it is Unnamed.
func Name(script string) string {
	name := File(script)
	if name == "" {
		first, _, _ := strings.Cut(strings.TrimSpace(script), "\n")
		if comment, ok := strings.CutPrefix(first, "--"); ok {
			name, _, _ = strings.Cut(strings.TrimSpace(comment), " ")
			name = strings.TrimRight(name, ".,:;")
		}
	}
	if name = strings.TrimSuffix(name, ".lua"); !regexp.MustCompile(`^[\w.-]+$`).MatchString(name) {
		return Unnamed
	}
	return name
}
