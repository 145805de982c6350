package oracle

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	shownBlock  = regexp.MustCompile("(?s)<!-- lockstep (explore [^\n]+?)(?: --lang zh)? -->\n```text\n(.*?)```")
	shownRow    = regexp.MustCompile("(?m)^\\| `(explore [^`]+)` \\| ([a-z-]+(?:, \\d+)?) \\|")
	typedReplay = regexp.MustCompile(`(?m)^go run \. (explore .*--replay ".*?)(?: --lang zh)?$`)
	seatLink    = regexp.MustCompile(`#(/schedule/[^)]+)\)`)
	museumRow   = regexp.MustCompile("(?m)^\\| (`\\S+` \\| [a-z, -]+ \\|.*\\| (?:\\d+|never) \\| .+) \\|$")

	shows    = regexp.MustCompile(`^\S+ shows (\S+) in (\d+) steps|^\S+ 最少 (\d+) 步就出现 ([a-z-]+)`)
	never    = regexp.MustCompile(`^\S+ (never shows|从不出现)`)
	schedule = regexp.MustCompile(`--replay "([^"]+)"`)
)

// printed gives the schedules that documents print, and what these show. Both languages print the same.
func printed(t *testing.T) (lines []string) {
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/course/*.md", "exercises/*/*.md"} {
		documents, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range documents {
			document, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			document = filepath.ToSlash(document)
			if strings.HasSuffix(document, ".zh-CN.md") {
				continue
			}
			said, chinese := printedIn(t, document), strings.TrimSuffix(document, ".md")+".zh-CN.md"
			if _, err := os.Stat(filepath.Join(root, chinese)); err == nil && !slices.Equal(printedIn(t, chinese), said) {
				t.Errorf("%s prints other schedules than %s:\n%s", chinese, document, difference(said, printedIn(t, chinese)))
			}
			for _, line := range said {
				lines = append(lines, fmt.Sprintf("printed %s, %s", document, line))
			}
		}
	}
	return lines
}

// printedIn gives the explorations that a document shows, and those that it tells to replay, or to open in the seat.
func printedIn(t *testing.T, document string) (all []string) {
	t.Helper()
	text := read(t, document)
	for _, block := range shownBlock.FindAllStringSubmatch(text, -1) {
		said := "" // of a replay: no anomaly
		if found := shows.FindStringSubmatch(block[2]); found != nil {
			said = fmt.Sprintf(": %s, %s, %s", cmp.Or(found[1], found[4]), cmp.Or(found[2], found[3]), schedule.FindStringSubmatch(block[2])[1])
		} else if never.MatchString(block[2]) {
			said = ": never"
		}
		all = append(all, block[1]+said)
	}
	for _, row := range shownRow.FindAllStringSubmatch(text, -1) {
		all = append(all, row[1]+": "+row[2])
	}
	for _, line := range typedReplay.FindAllStringSubmatch(text, -1) {
		all = append(all, "typed "+line[1])
	}
	for _, found := range seatLink.FindAllStringSubmatch(text, -1) {
		link, err := url.Parse(found[1])
		if err != nil {
			t.Fatal(err)
		}
		q := link.Query()
		lock := strings.TrimPrefix(link.Path, "/schedule/")
		all = append(all, fmt.Sprintf("link to %s %s: %s, %s", lock, q.Get("in"), cmp.Or(q.Get("anomaly"), "no anomaly"), q.Get("do")))
	}
	return all
}

// museum gives the rows of its table: the library, the anomaly, what may go wrong, and how many steps, with the command that replays them.
func museum(t *testing.T) (lines []string) {
	for _, row := range museumRow.FindAllStringSubmatch(read(t, "museum/TABLES.md"), -1) {
		lines = append(lines, "museum "+strings.ReplaceAll(row[1], "`", ""))
	}
	return lines
}

// read reads a file of the checkout.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
