package checkout

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/strategy"
)

// Only internal/evolution defines the benefits, the costs and the remaining flaws of a lock. READMEs and package comments repeat them, and
// go test ./internal/test/checkout -run Say -update rewrites the copies.

var (
	readmeRows = regexp.MustCompile(`(<!-- the locks -->\n.*\n\|[-|]+\n)(?:\|.*\n)+`)
	threeLines = regexp.MustCompile(`// Adds: .*\n(?:// .*\n)*`)
)

func TestReadmesSayWhatTheTableSays(t *testing.T) {
	for i, readme := range readmes {
		in, rows := language.All()[i], ""
		for _, s := range evolution.Table() {
			if s.Name == "late-commit" { // and the antipatterns that follow are no choice
				break
			}
			rows += fmt.Sprintf("| `%s` | %s | %s |\n", s.Name, s.Adds.In(in), s.StillBroken.In(in))
		}
		rewritten(t, readme, readmeRows, 0, "${1}"+rows)
	}
}

func TestPackageCommentsSayWhatTheTableSays(t *testing.T) {
	const contrasts = "internal/lock/contrast/"
	places := map[string]string{ // file, and what the comment stands above
		"v0": contrasts + "none.go", "delex": "internal/lock/delex/lock.go", "redlock": "internal/lock/redlock/lock.go",
		"local":        contrasts + "local.go",
		"setnx-expire": contrasts + "antipatterns.go NewSetNXExpire", "lua-setnx": contrasts + "antipatterns.go NewLuaSetNX",
		"getset":     contrasts + "getset.go",
		"set-expire": contrasts + "antipatterns.go NewSetExpire", "setex": contrasts + "antipatterns.go NewSetEX",
		"segmented": "",                                                            // v11's
		"atomic":    "", "optimistic": "", "late-commit": "", "non-idempotent": "", // v0's and v4's, with another sale: see strategy.Update
	}
	for _, s := range evolution.Table() {
		place, contrast := places[s.Name]
		if !contrast {
			place = "internal/lock" + s.Name + "/lock.go"
		}
		if place == "" {
			continue
		}
		file, above, _ := strings.Cut(place, " ")
		after := 0
		if above != "" {
			text := read(t, file)
			after = strings.Index(text, "// "+above+" ")
		}
		rewritten(t, file, threeLines, after, threeLinesOf(s))
	}
}

func threeLinesOf(s strategy.Strategy) string {
	const columns = 140
	var lines strings.Builder
	for _, sentence := range []string{
		"Adds: " + s.Adds.In(language.English), "Costs: " + s.Costs.In(language.English), "Still broken: " + s.StillBroken.In(language.English),
	} {
		line := "//"
		for word := range strings.FieldsSeq(sentence + ".") {
			if len(line)+1+len(word) > columns {
				lines.WriteString(line + "\n")
				line = "//"
			}
			line += " " + word
		}
		lines.WriteString(line + "\n")
	}
	return lines.String()
}

// rewritten fails the test if the first match of the pattern in a file, from an offset on, is not the wanted text; with -update it rewrites
// the file.
func rewritten(t *testing.T, file string, pattern *regexp.Regexp, from int, want string) {
	t.Helper()
	text := read(t, file)
	place := pattern.FindStringSubmatchIndex(text[max(from, 0):])
	if place == nil || from < 0 {
		t.Fatalf("%s has no place for %q", file, want)
	}
	now := pattern.ExpandString([]byte(text[:from+place[0]]), want, text[from:], place)
	checkOrRewrite(t, file, text, string(now)+text[from+place[1]:])
}

// checkOrRewrite fails the test if the text of a file differs from the wanted one; with -update it rewrites the file.
func checkOrRewrite(t *testing.T, file, text, now string) {
	t.Helper()
	switch {
	case now == text:
	case *update:
		if err := os.WriteFile(file, []byte(now), 0o644); err != nil { //nolint:gosec // it is for everybody to read
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not say what the code says: go test ./internal/test/checkout -run Say -update", file)
	}
}
