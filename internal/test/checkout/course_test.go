package checkout

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/docs"
	"lockstep/internal/course"
	"lockstep/internal/language"
	"lockstep/internal/test/suite"
)

// courseFiles are the documents of the course.
func courseFiles() []string {
	files, err := filepath.Glob("docs/course/*.md")
	if err != nil {
		panic(err)
	}
	for i := range files {
		files[i] = filepath.ToSlash(files[i])
	}
	return files
}

func lessons(t *testing.T, in language.Language) []course.Lesson {
	t.Helper()
	all, err := course.Lessons(docs.Course(), in)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A lesson asks in both languages the same question, runs the same command, and shows the same schedule.
func TestLessonsAgreeInBothLanguages(t *testing.T) {
	english, chinese := lessons(t, language.English), lessons(t, language.Chinese)
	if len(english) < 12 || len(english) != len(chinese) {
		t.Fatalf("there are %d lessons in English, and %d in Chinese", len(english), len(chinese))
	}
	for i, e := range english {
		z := chinese[i]
		if e.Name != z.Name || e.Answer != z.Answer || len(e.Choices) != len(z.Choices) || e.Link != z.Link {
			t.Errorf("lesson %d is not the same in both languages:\n%+v\n%+v", i+1, e, z)
		}
		if got, want := typed(t, "docs/course/"+z.File), typed(t, "docs/course/"+e.File); !slices.Equal(got, inChinese(want)) {
			t.Errorf("lesson %d has the commands\n%v\nin Chinese, and in English\n%v", i+1, got, want)
		}
	}
}

// typedLine is a command line of a document, and the exit code that it has.
type typedLine struct {
	text  string
	exits int
}

// speaking matches the commands whose output is in the language of --lang.
var speaking = regexp.MustCompile(`^go run \. (explore|burst|lab|check|course|diff|matrix|new)\b`)

// inChinese returns the lines of a lesson in the form that the Chinese lesson has.
func inChinese(lines []typedLine) (chinese []typedLine) {
	for _, line := range lines {
		if speaking.MatchString(line.text) {
			line.text += " --lang zh"
		}
		chinese = append(chinese, line)
	}
	return chinese
}

// blocks matches the command blocks of a document. A comment above a block gives the exit codes of its lines, unless all are 0. A comment
// in a line would be typed, too, and zsh takes it for arguments.
var blocks = regexp.MustCompile("(?s)(?:<!-- exits ([\\d ]+) -->\n)?```(?:sh|powershell)\n(.*?)```")

// typed returns the command lines of a document.
func typed(t *testing.T, document string) (lines []typedLine) {
	t.Helper()
	text := read(t, document)
	for _, block := range blocks.FindAllStringSubmatch(text, -1) {
		codes := strings.Fields(block[1])
		all := strings.Split(strings.TrimSpace(block[2]), "\n")
		if len(codes) > 0 && len(codes) != len(all) {
			t.Fatalf("%s: %d lines, and %d exit codes:\n%s", document, len(all), len(codes), block[0])
		}
		for i, line := range all {
			exits := 0
			if len(codes) > 0 {
				exits, _ = strconv.Atoi(codes[i]) // they are digits
			}
			lines = append(lines, typedLine{line, exits})
		}
	}
	return lines
}

// slowInLessons are commands that start processes, or take seconds: the long suite runs them.
var slowInLessons = regexp.MustCompile(
	`^go run \. (lab|burst|check|course|explore (v10 --actors 4|v6 --work|v6 --faults pause))`)

// elsewhere matches commands that tests of their own run, because their output depends on the machine or because they take a minute, as the
// whole table does. Labs and explorations in Chinese have tests of their own too.
var elsewhere = regexp.MustCompile(`^go run \. (explore --all|(lab|explore) .*--lang zh$)`)

// Every command of a lesson exits and prints as the lesson says. The quick suite runs, in English, the commands that no other test runs.
func TestLessonCommands(t *testing.T) {
	done, shown, program := map[string]bool{}, map[string]bool{}, ""
	if suite.Long {
		program = build(t, "")
	} else {
		for _, row := range exploredIn(t, "docs/break-it.md") {
			shown[row.command] = true // and run by TestBreakItCommands
		}
	}
	for _, in := range language.All() {
		for _, l := range lessons(t, in) {
			shown[l.Run] = true // and run by TestDocumentsShowWhatIsPrinted
		}
	}
	for _, document := range courseFiles() {
		for _, line := range typed(t, document) {
			command := line.text
			args, ours := strings.CutPrefix(command, "go run . ")
			if done[command] || elsewhere.MatchString(command) || !ours {
				continue // of the room's preparations: they need a network
			}
			done[command] = true
			if shown[args] || slices.Contains(longCommands, inEnglish(args)) ||
				!suite.Long && (slowInLessons.MatchString(command) || args != inEnglish(args)) {
				continue
			}
			t.Run(command, func(t *testing.T) {
				var code int
				var output bytes.Buffer
				switch {
				case strings.HasPrefix(args, "lab "):
					t.Parallel() // it waits, beside its own servers
					var report string
					code, report = version{program: program}.judge(t, args, "")
					output.WriteString(report)
				case slowInLessons.MatchString(command):
					code = exitOf(t, &output, program, course.Arguments(args)...) // it starts its program anew
				default:
					code = asTyped.Run(t.Context(), course.Arguments(args), &output, &output)
				}
				if code != line.exits {
					t.Errorf("exit code %d; want %d\n%s", code, line.exits, &output)
				}
			})
		}
	}
	if len(done) < 50 {
		t.Errorf("the course has %d commands; want them all", len(done))
	}
}

// exitOf runs a program, and gives its exit code.
func exitOf(t *testing.T, output *bytes.Buffer, program string, args ...string) int {
	t.Helper()
	suite.Needs(t, program)
	command := exec.CommandContext(t.Context(), program, args...)
	command.Stdout, command.Stderr = output, output
	_ = command.Run() // says how it ended
	return command.ProcessState.ExitCode()
}

var (
	changes = regexp.MustCompile("(?s)```diff\n(.*?)```")
	stepOf  = regexp.MustCompile(`go run \. diff (v\d+) (v\w+)`)
)

// The changes that a lesson shows are in the code: the removed lines only in the package before the step, the added lines only in the one
// after it.
func TestLessonsShowCurrentCode(t *testing.T) {
	seen := 0
	for _, l := range lessons(t, language.English) {
		explained := l.Sections[course.Explain].Text
		for _, block := range changes.FindAllStringSubmatchIndex(explained, -1) {
			packages := stepOf.FindStringSubmatch(explained[block[1]:]) // the command after the changes
			if packages == nil {
				t.Fatalf("lesson %d shows changes, and does not say of what", l.Number)
			}
			before, after := codeOf(t, "lock"+packages[1]), codeOf(t, "lock"+packages[2])
			for line := range strings.Lines(explained[block[2]:block[3]]) {
				seen++
				text := strings.TrimSuffix(line[1:], "\n")
				if old := strings.Contains(before, text+"\n"); old != (line[0] == '-') {
					t.Errorf("lesson %d: is %q in %s? %v", l.Number, line, packages[1], old)
				}
				if now := strings.Contains(after, text+"\n"); now != (line[0] == '+') {
					t.Errorf("lesson %d: is %q in %s? %v", l.Number, line, packages[2], now)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("the lessons show %d changed lines", seen)
	}
}

// codeOf is the code of a lock, without its tests.
func codeOf(t *testing.T, name string) string {
	t.Helper()
	files, err := filepath.Glob("internal/" + name + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text := read(t, file)
		all.WriteString(text)
	}
	return all.String()
}
