package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"lockstep/internal/exercise"
)

// runCourseCommand takes the course with this standard input.
func runCourseCommand(t *testing.T, typed string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Program{Name: "go run .", In: strings.NewReader(typed)}.Run(t.Context(), append([]string{"course"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

// assertContainsInOrder fails the test unless text contains all the given texts in this order.
func assertContainsInOrder(t *testing.T, text string, all ...string) {
	t.Helper()
	rest := text
	for _, want := range all {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q is missing, or not in its place:\n%s", want, text)
		}
		rest = after
	}
}

// A learner answers, sees the result, quits, and continues in a later run.
func TestCourseReadsAnswersFromPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errs := runCourseCommand(t, "7\n2\n\n1\nq\n", "--lang", "en")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	assertContainsInOrder(t, out, "Lesson 1 of", "Predict", "  1  Always 98", `There is no choice "7"`, ": 2\n", "$ go run . explore v0\n",
		"v0 shows lost-update in 4 steps", "Right: 2.", "Redis does run one command at a time", "Try", "go run . burst", "Still broken",
		"Lesson 2 of", ": 1\n", "$ go run . explore local\n", "You said 1; the answer is 2: Yes", "A has locked its replica's mutex",
		"To continue later: go run . course")
	if strings.Contains(out, "Lesson 3 of") {
		t.Error("q does not stop")
	}
	if code, out, _ = runCourseCommand(t, "", "--list"); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	assertContainsInOrder(t, out, "✓  1  ", "·  2  ", "   3  ")

	code, out, _ = runCourseCommand(t, "", "--lang", "zh") // empty standard input
	if code != exitOK {
		t.Errorf("exit code %d at the end of the input", code)
	}
	assertContainsInOrder(t, out, "第 3 课", "你的预测", "下次从这里继续：go run . course")
	if strings.Contains(out, "explore v1") {
		t.Error("the command runs before the question is answered")
	}

	_, out, _ = runCourseCommand(t, "\n", "--reset", "--lang", "en")
	assertContainsInOrder(t, out, "Lesson 1 of", "The answer is 2: 98 or 99")
}

// The command of a lesson contains no flag that the learner did not type.
func TestCourseCommandHasNoLanguageFlag(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("LC_ALL", "en_US.UTF-8")
	_, out, _ := runCourseCommand(t, "2\nq\n", "1")
	assertContainsInOrder(t, out, "$ go run . explore v0\n", `--replay "A:GET B:GET A:write B:write"`+"\n", "Right: 2.")
}

// After the last lesson the course shows how many predictions were right, also when it is started again.
func TestCourseEndShowsScore(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errs := runCourseCommand(t, "2\n", "16", "--lang", "en")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	assertContainsInOrder(t, out, "Lesson 16 of 16", "Right: 2.", "1 of 16 predictions were right")
}

func TestCourseRejectsWrongArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		want string
		args []string
	}{
		{"there are 1 to 16", []string{"17"}},
		{"there are 1 to 16", []string{"0"}},
		{`"two"; there are 1 to 16`, []string{"two"}},
		{"takes no settings", []string{"--lock.version", "v4"}},
	} {
		code, out, errs := runCourseCommand(t, "", append(c.args, "--lang", "en")...)
		if code != exitTrouble || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit code %d, %s; want %s", c.args, code, errs, c.want)
		}
		if out != "" {
			t.Errorf("%v prints %s", c.args, out)
		}
	}
	if err := os.WriteFile(exercise.ProgressFile, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := runCourseCommand(t, "\n"); code != exitTrouble || !strings.Contains(errs, "delete it to start over") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}
