package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"lockstep/internal/exercise"
)

// learn takes the course with this on standard input.
func learn(t *testing.T, typed string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Program{Name: "go run .", In: strings.NewReader(typed)}.Run(t.Context(), append([]string{"course"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

// inOrder fails unless a text says all of this, one after the other.
func inOrder(t *testing.T, text string, all ...string) {
	t.Helper()
	rest := text
	for _, want := range all {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q does not come, or not in its place:\n%s", want, text)
		}
		rest = after
	}
}

// A learner predicts, sees, is told whether that was right, stops, and goes on another time.
func TestCourseThroughAPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errs := learn(t, "7\n2\n\n1\nq\n", "--lang", "en")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	inOrder(t, out, "Lesson 1 of", "Predict", "  1  Always 98", `There is no choice "7"`, ": 2\n", "$ go run . explore v0\n",
		"v0 shows lost-update in 4 steps", "Right: 2.", "Redis does run one command at a time", "Try", "go run . burst", "Still broken",
		"Lesson 2 of", ": 1\n", "$ go run . explore local\n", "You said 1; the answer is 2: Yes", "Neither can see the other's memory",
		"To continue later: go run . course")
	if strings.Contains(out, "Lesson 3 of") {
		t.Error("q does not stop")
	}
	if code, out, _ = learn(t, "", "--list"); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	inOrder(t, out, "✓  1  ", "·  2  ", "   3  ")

	code, out, _ = learn(t, "", "--lang", "zh") // the input ends at once
	if code != exitOK {
		t.Errorf("exit code %d at the end of the input", code)
	}
	inOrder(t, out, "第 3 课", "你的预测", "下次从这里继续：go run . course")
	if strings.Contains(out, "explore v1") {
		t.Error("the command runs before the question is answered")
	}

	_, out, _ = learn(t, "\n", "--reset", "--lang", "en")
	inOrder(t, out, "Lesson 1 of", "The answer is 2: 98 or 99")
}

// What a lesson's command tells to type has no flag that nobody has typed.
func TestCourseTypesNoLanguage(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("LC_ALL", "en_US.UTF-8")
	_, out, _ := learn(t, "2\nq\n", "1")
	inOrder(t, out, "$ go run . explore v0\n", `--replay "A:GET B:GET A:write B:write"`+"\n", "Right: 2.")
}

// After the last lesson it says how many predictions were right, and so it does when there is nothing left.
func TestCourseToItsEnd(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errs := learn(t, "2\n", "16", "--lang", "en")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	inOrder(t, out, "Lesson 16 of 16", "Right: 2.", "1 of 16 predictions were right")
}

func TestCourseRefuses(t *testing.T) {
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
		code, out, errs := learn(t, "", append(c.args, "--lang", "en")...)
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
	if code, _, errs := learn(t, "\n"); code != exitTrouble || !strings.Contains(errs, "remove it to begin anew") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}
