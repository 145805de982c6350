package checkout

import (
	"bytes"
	"flag"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/cli"
	"lockstep/internal/course"
	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/test/suite"
)

var update = flag.Bool("update", false, "write what the commands print into the documents")

// documents returns the files for people, in all languages.
func documents() []string {
	return append(courseFiles(),
		"README.md", "README.zh-CN.md", "docs/running.md", "docs/running.zh-CN.md", "docs/ARCHITECTURE.md",
		"docs/break-it.md", "docs/break-it.zh-CN.md",
		"docs/your-own-lock.md", "docs/your-own-lock.zh-CN.md", "jmeter/README.md",
		"docs/GLOSSARY.md", "docs/exercises.md", "docs/exercises.zh-CN.md", "CONTRIBUTING.md", "CHANGELOG.md",
		"docs/site.md", "docs/site.zh-CN.md", "docs/MATRIX.md", "docs/MATRIX.zh-CN.md",
	)
}

// asTyped is the program under the name by which the documents start it, with empty standard input.
var asTyped = cli.Program{Name: "go run .", In: strings.NewReader("")}

var printed = regexp.MustCompile("(?s)(<!-- lockstep ([^\n]*) -->\n```\\w+\n)(.*?)```")

// longCommands take several seconds. Small versions of them are among the claims that internal/explore tests.
var longCommands = []string{
	"explore v7 --faults pause=1,expiry=1 --anomaly lost-update",
	"explore v6 --work 25s --nested 1 --faults crash=1,lost-reply=1",
	"explore v7 --sales 3 --replicas 1 --anomaly starved",
	"explore v9 --actors 4 --anomaly starved",
	"explore v10 --actors 4 --anomaly starved",
	"explore v10 --actors 3 --replicas 2 --faults crash=1,lost-wake=1",
	"explore redlock --try 2 --faults node-hang=1",
	"explore optimistic --faults pause=1,crash=1,lost-reply=1",
	"explore segmented --faults expiry=1",
}

// inEnglish is a command without the flag that makes it speak Chinese.
func inEnglish(command string) string { return strings.TrimSuffix(command, " --lang zh") }

// The text that a document shows below <!-- lockstep … --> is the output of that command. The command go test ./internal/test/checkout
// -tags long -run Documents -update rewrites it.
func TestDocumentsShowWhatIsPrinted(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	seen, prints := 0, map[string]string{} // both languages show the same
	for _, document := range documents() {
		text := read(t, document)
		now := printed.ReplaceAllStringFunc(text, func(block string) string {
			seen++
			parts := printed.FindStringSubmatch(block)
			if !suite.Long && slices.Contains(longCommands, inEnglish(parts[2])) {
				return block
			}
			now, done := prints[parts[2]]
			if !done {
				var stdout, stderr bytes.Buffer
				if code := asTyped.Run(t.Context(), course.Arguments(parts[2]), &stdout, &stderr); code == 2 {
					t.Errorf("%s: lockstep %s: %s", document, parts[2], stderr.String())
				}
				now = stdout.String()
				prints[parts[2]] = now
			}
			if now != parts[3] && !*update {
				t.Errorf("%s shows for lockstep %s\n%s\nbut it prints\n%s", document, parts[2], parts[3], now)
			}
			return parts[1] + now + "```"
		})
		if *update {
			checkOrRewrite(t, document, text, now)
		}
	}
	if seen < 20 {
		t.Errorf("the documents show %d commands; want them all", seen)
	}
}

// exploration is a row of a table of explorations: the command, and the anomaly with its steps, or never.
type exploration struct{ command, shows string }

var exploredRow = regexp.MustCompile("(?m)^\\| `(explore [^`]+)` \\| ([a-z-]+(?:, \\d+)?) \\|")

func exploredIn(t *testing.T, document string) (rows []exploration) {
	t.Helper()
	for _, row := range exploredRow.FindAllStringSubmatch(read(t, document), -1) {
		rows = append(rows, exploration{row[1], row[2]})
	}
	return rows
}

var outcome = regexp.MustCompile(`^\S+ (?:shows (\S+) in (\d+) steps|(never))`)

// Every command of break-it exits as the page says. A command of a table finds the anomaly of its row in the same number of steps, or none.
func TestBreakItCommands(t *testing.T) {
	t.Parallel() // TestReadmeCommands waits most of its time
	rows, commands := exploredIn(t, "docs/break-it.md"), typed(t, "docs/break-it.md")
	for _, row := range rows {
		exits := 1
		if row.shows == "never" {
			exits = 0
		}
		commands = append(commands, typedLine{"go run . " + row.command + " --lang en", exits})
	}
	for i, command := range commands {
		line := strings.TrimPrefix(command.text, "go run . ")
		if elsewhere.MatchString(command.text) || !suite.Long && slices.Contains(longCommands, strings.TrimSuffix(line, " --lang en")) {
			continue
		}
		var stdout, stderr bytes.Buffer
		if code := asTyped.Run(t.Context(), course.Arguments(line), &stdout, &stderr); code != command.exits {
			t.Errorf("%s: exit code %d, %s; want %d\n%s", line, code, &stderr, command.exits, &stdout)
		}
		row := i - (len(commands) - len(rows))
		if row < 0 {
			continue
		}
		says := outcome.FindStringSubmatch(stdout.String())
		if says == nil || strings.Trim(says[1]+", "+says[2]+says[3], ", ") != rows[row].shows {
			t.Errorf("%s: it shows %q; want %q", line, says, rows[row].shows)
		}
	}
	if chinese := exploredIn(t, "docs/break-it.zh-CN.md"); len(rows) < 24 || len(commands) < len(rows)+3 || !slices.Equal(rows, chinese) {
		t.Errorf("the tables have %d commands, and %d in Chinese; want them all, and the same", len(rows), len(chinese))
	}
}

// The descriptions of faults and anomalies in break-it are those of the tables in internal/explore, which help prints. The translation
// names every fault and anomaly.
func TestDocumentsNameEveryFaultAndAnomaly(t *testing.T) {
	rows := map[string]string{}
	for _, f := range explore.AllFaults() {
		rows["| `"+f.Name+"=N` | "] = f.Description.In(language.English)
	}
	for _, a := range explore.Anomalies() {
		rows["| `"+string(a)+"` | "] = a.Row().Says.In(language.English)
	}
	for _, document := range []string{"docs/break-it.md", "docs/break-it.zh-CN.md"} {
		text := read(t, document)
		for row, says := range rows {
			if document == "docs/break-it.md" {
				row += says
			}
			if !strings.Contains(text, "\n"+row) {
				t.Errorf("%s has no row %s", document, row)
			}
		}
	}
}

// Both languages have the same commands to type, and show the output of the same commands, apart from the language.
func TestCommandsAgreeInBothLanguages(t *testing.T) {
	shown := func(document string) (all []string) {
		for _, parts := range printed.FindAllStringSubmatch(read(t, document), -1) {
			all = append(all, inEnglish(parts[2]))
		}
		return all
	}
	for _, document := range []string{"README", "docs/running", "docs/break-it", "docs/your-own-lock"} {
		english, chinese := document+".md", document+".zh-CN.md"
		if got, want := typed(t, chinese), inChinese(typed(t, english)); !slices.Equal(got, want) {
			t.Errorf("%s tells to type\n%v\nwant\n%v", chinese, got, want)
		}
		if got, want := shown(chinese), shown(english); !slices.Equal(got, want) {
			t.Errorf("%s shows\n%v\nwant\n%v", chinese, got, want)
		}
	}
}
