package checkout

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lockstep/internal/test/suite"
)

// ownLock holds the code and the commands of docs/your-own-lock.md in one language.
type ownLock struct {
	head, lock string // of internal/lock/contrast/mine.go; the lock is that of an example
	row        string
	test       string
	explores   []string
}

func readOwnLock(t *testing.T, document string) ownLock {
	t.Helper()
	explorer := regexp.MustCompile("(?s)\n## (?:In the explorer|在探索器里)\n.*").FindString(read(t, document))
	blocks := regexp.MustCompile("(?s)```(?:go|text|bash)\n(.*?)```").FindAllStringSubmatch(explorer, -1)
	if len(blocks) != 4 {
		t.Fatalf("%s has %d blocks; want the head, the row, the test, and what explores", document, len(blocks))
	}
	example := read(t, "internal/explore/example_test.go")
	_, lock, begins := strings.Cut(example, "// mine is a lock of your own.\n")
	lock, _, ends := strings.Cut(lock, "// A lock of your own, explored.\n")
	if !begins || !ends {
		t.Fatal("internal/explore/example_test.go has no lock of your own")
	}
	return ownLock{
		head: blocks[0][1], lock: lock, row: blocks[1][1], test: strings.TrimSpace(blocks[2][1]),
		explores: strings.Split(strings.TrimSpace(blocks[3][1]), "\n"),
	}
}

// A reader who follows docs/your-own-lock.md has a lock that passes the tests and that the explorer breaks.
func TestYourOwnLockGuideWorks(t *testing.T) {
	own := readOwnLock(t, "docs/your-own-lock.md")
	chinese := readOwnLock(t, "docs/your-own-lock.zh-CN.md")
	if chinese.head != own.head || chinese.row != own.row || chinese.test != own.test {
		t.Error("the Chinese page has another lock")
	}
	const table = "internal/evolution/contrasts.go"
	source := read(t, table)
	const end = "\n\t}\n}\n"
	if strings.Count(source, end) != 1 {
		t.Fatalf("where does the table of %s end?", table)
	}
	written := overlays(t, map[string]string{
		"internal/lock/contrast/mine.go": own.head + "\n" + own.lock,
		table:                            strings.Replace(source, end, "\n"+own.row+end, 1),
	})

	arguments := strings.Fields(own.test)[1:]
	arguments = append(arguments, "-count=1", "-overlay", written)
	if !suite.Long {
		arguments = append(arguments, "-run", "/^mine$") // beside the others in the long suite
	}
	if output, err := exec.Command("go", arguments...).CombinedOutput(); err != nil || strings.Contains(string(output), "no tests to run") {
		t.Errorf("%s: %v\n%s", own.test, err, output)
	}
	if !suite.Long {
		return // Example_yourOwnLock explores the same lock
	}
	program := build(t, written)
	broken := 0
	for _, line := range own.explores {
		var exit *exec.ExitError
		switch output, err := exec.Command(program, strings.Fields(line)...).CombinedOutput(); {
		case errors.As(err, &exit) && exit.ExitCode() == 1:
			broken++
		case err != nil:
			t.Errorf("%s: %v\n%s", line, err, output)
		}
	}
	if broken == 0 {
		t.Error("no exploration breaks the lock that the document says is broken")
	}
}

// overlays writes an overlay file for the go command, by which it reads these texts in place of the files.
func overlays(t *testing.T, texts map[string]string) string {
	t.Helper()
	replace, dir := map[string]string{}, t.TempDir()
	for file, text := range texts {
		absolute, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		replace[absolute] = filepath.Join(dir, strconv.Itoa(len(replace))+filepath.Base(file))
		if err := os.WriteFile(replace[absolute], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, list, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
