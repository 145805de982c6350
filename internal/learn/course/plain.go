package course

import (
	"regexp"
	"strings"
)

var (
	comment  = regexp.MustCompile(`(?s)<!--.*?-->\n?`)
	webLink  = regexp.MustCompile(`\[([^]]+)\]\((https?://[^)]+)\)`)
	fileLink = regexp.MustCompile(`\[([^]]+)\]\([^)]+\)`)
	bold     = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	italic   = regexp.MustCompile(`(^|[\s，。：、])\*([^*\s][^*]*)\*|(\p{Han})\*([^*\s][^*]*)\*`)
)

// Plain is a text of a lesson for a terminal: without marks, and its paragraphs no wider than so many columns.
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
			lines = append(lines, fold(unmarked(line), columns)...)
		}
	}
	return strings.Join(lines, "\n")
}

// unmarked is a line without its marks. Code keeps its asterisks.
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

// A line does not begin with these.
const closing = "，。：；！？、）”》"

// fold breaks a line at spaces, and between Chinese signs, which are two columns wide.
func fold(line string, columns int) (lines []string) {
	signs := []rune(line)
	start, used, last := 0, 0, 0 // last: where the line may be broken
	for i, sign := range signs {
		if wide := sign >= 0x2E80; wide {
			if used++; i > start && !strings.ContainsRune(closing, sign) {
				last = i
			}
		} else if sign == ' ' {
			last = i
		}
		if used++; used > columns && last > start {
			lines = append(lines, strings.TrimSpace(string(signs[start:last])))
			start, used = last, columnsOf(signs[last:i+1])
		}
	}
	return append(lines, strings.TrimSpace(string(signs[start:])))
}

func columnsOf(signs []rune) (columns int) {
	for _, sign := range signs {
		if columns++; sign >= 0x2E80 {
			columns++
		}
	}
	return columns
}
