package course

import (
	"regexp"
	"strings"

	"lockstep/internal/trace"
)

var (
	comment  = regexp.MustCompile(`(?s)<!--.*?-->\n?`)
	webLink  = regexp.MustCompile(`\[([^]]+)\]\((https?://[^)]+)\)`)
	fileLink = regexp.MustCompile(`\[([^]]+)\]\([^)]+\)`)
	bold     = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	italic   = regexp.MustCompile(`(^|[\s，。：、])\*([^*\s][^*]*)\*|(\p{Han})\*([^*\s][^*]*)\*`)
)

// Plain writes a text of a lesson for a terminal: without marks, and its paragraphs no wider than so many columns.
func Plain(markdown string, columns int) string {
	var lines []string
	fenced := false
	for line := range strings.SplitSeq(strings.TrimSpace(comment.ReplaceAllString(markdown, "")), "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced:
			lines = append(lines, "  "+line)
		case strings.HasPrefix(line, "|"):
			lines = append(lines, unmarked(line))
		default:
			lines = append(lines, trace.Wrap(unmarked(line), columns, "")...)
		}
	}
	return strings.Join(lines, "\n")
}

// unmarked returns a line without its marks. Code keeps its asterisks.
func unmarked(line string) string {
	line = fileLink.ReplaceAllString(webLink.ReplaceAllString(line, "$1 ($2)"), "$1")
	var b strings.Builder
	for i, part := range strings.Split(line, "`") {
		if i%2 == 0 {
			part = italic.ReplaceAllString(bold.ReplaceAllString(part, "$1"), "$1$2$3$4")
		}
		b.WriteString(part)
	}
	return b.String()
}
